/** What `heddle lab` can be told to do. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isComplete, keepLab, matrixText, parseScenario, playSteps, RunningLab } from '@heddle/lab';
import type { Cli, CommonFlags } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { emit } from '../output/emit.ts';
import { CommandError } from '../output/report-error.ts';
import { waitFor } from '../sandbox/command.ts';
import { type LabFlags, specOfFlags } from './flags.ts';
import { ownProgram } from './program.ts';
import { labText } from './text.ts';

type Action = (cli: Cli, flags: LabFlags, args: readonly string[]) => Promise<number | undefined>;

/** The actions by name. */
export const ACTIONS: Readonly<Record<string, Action>> = { up, ls, matrix, exec, cut, heal, run, down, keep };

/** Those that people use. */
export const SHOWN_ACTIONS = Object.keys(ACTIONS).filter((name) => name !== 'keep');

async function up(cli: Cli, flags: LabFlags, args: readonly string[]): Promise<number> {
  refuseMore('up', args);
  const lab = await RunningLab.start(specOfFlags(flags), {
    ...{ program: ownProgram(cli), name: flags.lab },
    tell: (what) => flags.output !== 'json' && cli.stderr.write(`${what}\n`),
  });
  await printStatus(cli, flags, lab);
  return EXIT.OK;
}

async function ls(cli: Cli, flags: LabFlags, args: readonly string[]): Promise<number> {
  refuseMore('ls', args);
  await printStatus(cli, flags, labOf(flags));
  return EXIT.OK;
}

async function matrix(cli: Cli, flags: LabFlags, args: readonly string[]): Promise<number> {
  refuseMore('matrix', args);
  const { from, to, hosts, timeout } = flags;
  const found = await labOf(flags).ask('matrix', { from, to, nodes: hosts, timeout });
  emit(
    cli,
    flags,
    () => found,
    () => matrixText(found),
  );
  return isComplete(found) ? EXIT.OK : EXIT.FAILED;
}

async function exec(cli: Cli, flags: LabFlags, [on, ...command]: readonly string[]): Promise<number> {
  if (on === undefined) throw usage('exec', 'say where: a node, a pod or router');
  const program = command.length === 0 ? [cli.env['SHELL'] ?? '/bin/sh'] : command;
  return await waitFor(cli, program[0] ?? '', () => labOf(flags).spawn(on, program, { env: cli.env }));
}

async function cut(cli: Cli, flags: LabFlags, args: readonly string[]): Promise<number> {
  for (const node of someNodes('cut', args)) await labOf(flags).ask('cut', { node });
  await printStatus(cli, flags, labOf(flags));
  return EXIT.OK;
}

async function heal(cli: Cli, flags: LabFlags, args: readonly string[]): Promise<number> {
  for (const node of someNodes('heal', args)) await labOf(flags).ask('heal', { node });
  await printStatus(cli, flags, labOf(flags));
  return EXIT.OK;
}

async function run(cli: Cli, flags: LabFlags, [file, ...more]: readonly string[]): Promise<number> {
  refuseMore('run', more);
  if (file === undefined) throw usage('run', 'say which scenario');
  const { about, lab: spec, steps } = parseScenario(readScenario(cli, file), file);
  const tell = (line: string) => void cli.stdout.write(`${line}\n`);
  if (about !== '') tell(about);
  await using lab = await RunningLab.start(spec, {
    ...{ program: ownProgram(cli), name: flags.lab, owned: true },
    tell,
  });
  await playSteps(lab, steps, tell);
  tell(`${steps.length} steps, all as they should be`);
  return EXIT.OK;
}

function readScenario({ cwd }: Cli, file: string): string {
  try {
    return readFileSync(resolve(cwd, file), 'utf8');
  } catch (cause) {
    throw new CommandError(EXIT.FAILED, `read scenario ${file}: ${(cause as Error).message}`, { cause });
  }
}

async function down(_cli: Cli, flags: LabFlags, args: readonly string[]): Promise<number> {
  refuseMore('down', args);
  await labOf(flags).down();
  return EXIT.OK;
}

/** The process that a lab lives in; the others start it. */
async function keep(cli: Cli): Promise<never> {
  try {
    await keepLab({
      ...{ stdin: process.stdin, stdout: process.stdout, env: cli.env },
      onSignal: (end) => void cli.signals.listen(['SIGTERM', 'SIGINT', 'SIGHUP'], end),
    });
  } catch (error) {
    cli.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(EXIT.FAILED);
  }
  // Whatever still runs in the lab is to end now, and does with its process 1.
  process.exit(EXIT.OK);
}

async function printStatus(cli: Cli, flags: CommonFlags, lab: RunningLab): Promise<void> {
  const status = await lab.ask('status', {});
  emit(
    cli,
    flags,
    () => status,
    (styled) => labText(status, styled),
  );
}

function labOf({ lab }: LabFlags): RunningLab {
  return RunningLab.open({ name: lab });
}

function someNodes(action: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) throw usage(action, 'say which node');
  return names;
}

function refuseMore(action: string, [first]: readonly string[]): void {
  if (first !== undefined) throw usage(action, `there is nothing to be said after it, such as ${first}`);
}

function usage(action: string, what: string): CommandError {
  return new CommandError(EXIT.USAGE, `lab ${action}: ${what}`, { hint: 'heddle lab --help shows how' });
}

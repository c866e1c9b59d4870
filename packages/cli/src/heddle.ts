/** The command as a function: arguments and surroundings in, an exit code out. */
import {
  ArgumentScannerError,
  buildApplication,
  buildRouteMap,
  formatMessageForArgumentScannerError,
  run,
  text_en,
} from '@stricli/core';
import type { Cli } from './command.ts';
import { isDaemonLine, keepLeases } from './commands/dhcp.ts';
import { COMMANDS } from './commands/index.ts';
import { EXIT } from './exit-codes.ts';
import { commandHelp, overviewHelp } from './help.ts';
import type { Surroundings } from './surroundings.ts';
import { HEDDLE_VERSION } from './version.ts';

/**
 * Runs one command line.
 *
 * @param args without the program's own name
 * @returns the exit code; see `EXIT`
 * @example process.exitCode = await heddle(['ls', '-o', 'json'], surroundings);
 */
export async function heddle(args: readonly string[], surroundings: Surroundings): Promise<number> {
  if (isDaemonLine(args)) return keepLeases(args, surroundings);
  const { stdout, stderr, env } = surroundings;
  const process: Cli['process'] = { stdout, stderr, env };
  const cli: Cli = { ...surroundings, process };
  await run(applicationFor(args, surroundings), askedForHelp(args), cli);
  const exitCode = Number(process.exitCode ?? 0);
  // The framework's own codes are negative, and all mean that the command line was not understood.
  return exitCode < 0 ? EXIT.USAGE : exitCode;
}

/** `help add` is `add --help`. */
function askedForHelp(args: readonly string[]): readonly string[] {
  const [first, topic, ...rest] = args;
  if (first !== 'help' || topic?.startsWith('-')) return args;
  return topic === undefined ? ['--help'] : [topic, ...rest, '--help'];
}

function applicationFor(args: readonly string[], { stdout }: Surroundings) {
  const named = COMMANDS.find(({ lesson }) => lesson.name === args[0]);
  const moreHelp = `heddle ${named === undefined ? '' : `${named.lesson.name} `}--help`;
  const usage = (message: string) => `heddle: ${message}\n  hint: ${moreHelp} shows how`;
  const routes = Object.fromEntries(COMMANDS.map(({ lesson, command }) => [lesson.name, command]));
  const layout = { width: stdout.columns ?? WIDTH, styled: stdout.isTerminal };
  const helped = (path: readonly string[]) => COMMANDS.find(({ lesson }) => lesson.name === path[1]);
  return buildApplication<Cli>(
    buildRouteMap({ routes, docs: { brief: 'container networking for this node' } }),
    {
      name: 'heddle',
      scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
      documentation: { disableAnsiColor: true },
      localization: {
        text: {
          ...text_en,
          exceptionWhileParsingArguments: (error) => usage(argumentProblem(error)),
          noCommandRegisteredForInput: ({ input, corrections }) =>
            usage(
              `there is no command "${input}"${corrections.length > 0 ? `; did you mean ${corrections.join(' or ')}?` : ''}`,
            ),
        },
      },
    },
    {
      help: {
        flag: {
          brief: 'explain a command',
          aliases: ['h'],
          global: true,
          defaultForRouteMap: true,
          run(_application, { result: { prefix } }) {
            const command = helped(prefix);
            stdout.write(
              command === undefined ? overviewHelp(COMMANDS, layout) : commandHelp(command, layout),
            );
          },
        },
      },
      version: {
        flag: { brief: 'show the version', aliases: ['v'], run: () => stdout.write(`${HEDDLE_VERSION}\n`) },
      },
    },
  );
}

/** For what is no terminal. */
const WIDTH = 100;

function argumentProblem(error: unknown): string {
  if (!(error instanceof ArgumentScannerError)) return error instanceof Error ? error.message : String(error);
  const text = formatMessageForArgumentScannerError(error, {});
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

/** Runs the kit on one plugin or runtime, here or in the lab, and remembers what it said. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { CHECKS, RUNTIME_CHECKS } from '@heddle/conformance';
import { FOUND_EXIT } from '@heddle/doctor';
import { runInGuest } from '../lab/boot.ts';
import { fetchKernel } from '../lab/kernel.ts';

/** As much of the kit's JSON as pages show. */
export interface Report {
  readonly summary: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly unclaimed: number;
  readonly milliseconds: number;
  readonly checks: readonly ReportedCheck[];
}

/** One check of a report. */
export interface ReportedCheck {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly reason: string | null;
  readonly failure: {
    readonly expected: string;
    readonly got: string;
    readonly cites: string;
    readonly reproduce: string;
  } | null;
}

/** What to check. */
export interface KitRun {
  /** The page that it is for. */
  readonly page: string;
  /** The name of the plugin or runtime. */
  readonly subject: string;
  /** Arguments of `heddle conformance`. */
  readonly words: readonly string[];
  readonly isInLab?: boolean;
  /** Whether what was said before will not do. */
  readonly isWanted: boolean;
}

const KEPT = join('build', 'conformance');

/**
 * The kit's report; from before, where there is one that will do.
 *
 * @throws {Error} when the kit could not do its work, or the report is of another kit
 */
export async function reportOf(run: KitRun): Promise<Report> {
  const { page, subject } = run;
  const kept = fileOf(page, subject);
  if (run.isWanted || !isKept(page, subject)) {
    const text = await output(run);
    mkdirSync(KEPT, { recursive: true });
    writeFileSync(kept, text);
  }
  const report: Report = JSON.parse(readFileSync(kept, 'utf8'));
  const ids = new Set<string>([...CHECKS, ...RUNTIME_CHECKS].map(({ id }) => id));
  if (report.checks.some(({ id }) => !ids.has(id))) throw new Error(`${kept} is of another kit: remove it`);
  console.log(`${page} ${subject}: ${report.summary}, in ${(report.milliseconds / 1000).toFixed(0)} s`);
  return report;
}

/** Whether there is a report from before. */
export function isKept(page: string, subject: string): boolean {
  return existsSync(fileOf(page, subject));
}

function fileOf(page: string, subject: string): string {
  return join(KEPT, `${page}-${subject}.json`);
}

async function output({ subject, words, isInLab = false }: KitRun): Promise<string> {
  const args = ['--conditions=source', 'packages/cli/src/main.ts', 'conformance', ...words, '-o', 'json'];
  const path = [programs(), resolve('build/reference'), process.env['PATH']].join(delimiter);
  const { status, stdout, stderr } = isInLab ? await inLab(args, path) : here(args, path);
  if (status !== 0 && status !== FOUND_EXIT.error) throw new Error(`${subject}: ${stderr}`);
  return stdout;
}

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function here(args: readonly string[], path: string): Ended {
  return spawnSync(process.execPath, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { ...process.env, PATH: path },
  });
}

async function inLab(args: readonly string[], path: string): Promise<Ended> {
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  const status = await runInGuest(fetchKernel('user-mode'), {
    command: [process.execPath, ...args],
    directory: process.cwd(),
    environment: { PATH: path, HOME: '/root' },
    terminal: false,
    onOutput: (bytes) => out.push(bytes),
    onError: (bytes) => err.push(bytes),
  });
  return { status, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
}

/** A directory with the command `heddle`, as it is in these sources. */
function programs(): string {
  const directory = resolve(KEPT, 'bin');
  mkdirSync(directory, { recursive: true });
  const program = join(directory, 'heddle');
  const words = [process.execPath, '--conditions=source', resolve('packages/cli/src/main.ts')];
  writeFileSync(program, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(' ')} "$@"\n`);
  chmodSync(program, 0o755);
  return directory;
}

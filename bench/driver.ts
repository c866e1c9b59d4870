/** Programs run and timed by the native driver, one after the other. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type NetnsHandle, runInNetns } from '@heddle/sys';

/** One run of a program. */
export interface TimedRun {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
}

/** How it ended. */
export interface Timing {
  readonly status: number;
  readonly stdout: string;
  readonly milliseconds: number;
}

/** See the file's comment. */
export class Driver implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'heddle-bench-'));
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #answers: AsyncIterator<string>;

  /** @param netns where the programs run */
  constructor(netns: NetnsHandle) {
    const driver = buildDriver();
    this.#child = runInNetns(netns, () =>
      spawn(driver, { stdio: ['pipe', 'pipe', 'inherit'] as never }),
    ) as never;
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async run({ program, env, stdin }: TimedRun): Promise<Timing> {
    const [environment, input, output] = ['env', 'in', 'out'].map((name) => join(this.#directory, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(
      environment,
      Object.entries(env)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    );
    writeFileSync(input, stdin);
    this.#child.stdin.write(`${[program, environment, input, output].join('\t')}\n`);
    const { value, done } = await this.#answers.next();
    if (done === true) throw new Error(`the driver ended while it ran ${program}`);
    const [status, nanoseconds] = String(value).split(' ').map(Number) as [number, number];
    return { status, milliseconds: nanoseconds / 1e6, stdout: readFileSync(output, 'utf8') };
  }

  [Symbol.dispose](): void {
    this.#child.stdin.end();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function buildDriver(): string {
  const driver = 'build/bench/driver';
  const source = 'bench/driver.c';
  if (!existsSync(driver) || statSync(driver).mtimeMs < statSync(source).mtimeMs) {
    mkdirSync('build/bench', { recursive: true });
    execFileSync('cc', ['-O2', '-Wall', '-Wextra', '-Werror', '-o', driver, source]);
  }
  return driver;
}

/**
 * Plugins for tests: shell scripts that note down how they were called and then do as they are told. In the
 * spirit of the reference's noop plugin, without starting anything but a shell.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CNI_VERSIONS, type Command, type JsonObject } from '../../index.ts';
import { systemExec } from '../exec.ts';
import { FileLocks } from '../locks.ts';
import { Runtime, type RuntimeOptions } from '../runtime.ts';
import { chainExec } from './chain-exec.ts';

/** What a stub does on one command. */
export interface StubAnswer {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly exitCode?: number;
  /** Shell commands to run first. */
  readonly script?: string;
}

/** How a stub was called. */
export interface StubCall {
  readonly type: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: JsonObject;
}

/** A directory of stubs with their common log, and directories for a runtime that uses them. */
export class StubPlugins implements Disposable {
  /** A fresh directory, for whatever a test needs. */
  readonly root: string = mkdtempSync(join(tmpdir(), 'heddle-runtime-'));
  /** The plugin directory. */
  readonly bin: string = join(this.root, 'bin');
  readonly cacheDir: string = join(this.root, 'cache');
  readonly warnings: string[] = [];
  readonly #log = join(this.root, 'log');

  constructor(...types: readonly string[]) {
    mkdirSync(this.bin);
    for (const type of types) this.install(type);
  }

  /** Makes a plugin, or changes what it answers. By default it succeeds, knows all versions and has an address. */
  install(
    type: string,
    answers: Partial<Record<Command, StubAnswer>> = {},
    directory: string = this.bin,
  ): string {
    const path = join(directory, type);
    const cases = Object.entries({ ...DEFAULT_ANSWERS, ...answers }).map(
      ([command, answer]) => `${command})\n${answerScript(answer)}\n;;`,
    );
    writeFileSync(path, stubScript(type, this.#log, cases.join('\n')));
    chmodSync(path, 0o755);
    return path;
  }

  /** All calls until now, oldest first. */
  calls(): readonly StubCall[] {
    const text = readFileSync(this.#log, { encoding: 'utf8', flag: 'a+' });
    return text.split('\n\n').filter(Boolean).map(parseCall);
  }

  /** The calls in short: `ADD bridge`. */
  commands(): readonly string[] {
    return this.calls().map(({ type, env }) => `${env['CNI_COMMAND']} ${type}`);
  }

  /** Forgets the calls until now. */
  clear(): void {
    rmSync(this.#log, { force: true });
  }

  /** A runtime that uses the stubs; with HEDDLE_TEST_RUNTIME=chain it makes one job of each operation. */
  runtime(options: Partial<RuntimeOptions> = {}): Runtime {
    const onWarning = (message: string) => this.warnings.push(message);
    const exec = systemExec({ onWarning });
    return new Runtime({
      ...(process.env['HEDDLE_TEST_RUNTIME'] === 'chain' && { exec: chainExec(exec) }),
      path: [this.bin],
      env: { PATH: '/usr/bin:/bin' },
      cacheDir: this.cacheDir,
      locks: new FileLocks(join(this.root, 'locks')),
      onWarning,
      ...options,
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** The result that stubs print unless they are told otherwise. */
const STUB_RESULT = '{"ips":[{"address":"192.0.2.5/24"}]}';

const DEFAULT_ANSWERS: Partial<Record<Command, StubAnswer>> = {
  ADD: { stdout: STUB_RESULT },
  VERSION: { stdout: JSON.stringify({ cniVersion: '1.1.0', supportedVersions: CNI_VERSIONS }) },
};

function answerScript({ stdout = '', stderr = '', exitCode = 0, script = ':' }: StubAnswer): string {
  return `${script}\nprintf %s ${quote(stderr)} >&2\nprintf %s ${quote(stdout)}\nexit ${exitCode}`;
}

// The configuration is one line without an end, so `read` takes all of it; builtins only, for speed.
function stubScript(type: string, log: string, cases: string): string {
  const variables = [...VARIABLES].map((name) => `${name}=$${name}`).join('\n');
  return `#!/bin/sh
stdin=
IFS= read -r stdin
printf '%s\\n' ${quote(type)} "${variables}" "stdin=$stdin" '' >> ${quote(log)}
case $CNI_COMMAND in
${cases}
esac
exit 0
`;
}

const VARIABLES = [
  'CNI_COMMAND',
  'CNI_CONTAINERID',
  'CNI_NETNS',
  'CNI_ARGS',
  'CNI_IFNAME',
  'CNI_PATH',
  'HEDDLE_LOCKS',
  'INHERITED',
  'TRACEPARENT',
  'TRACESTATE',
  'BAGGAGE',
];

function parseCall(text: string): StubCall {
  const [type = '', ...lines] = text.split('\n');
  const entries = lines.map(
    (line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const,
  );
  const { stdin = '', ...env } = Object.fromEntries(entries);
  return { type, env, stdin: stdin === '' ? {} : JSON.parse(stdin) };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

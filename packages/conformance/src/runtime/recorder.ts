/** Plugins that note how they are called and answer as they are told: what a runtime under test gets to run. */

import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '@heddle/cni';
import { makeDirectory } from '@heddle/sys';

/** A call that a recorder was given. */
export interface Recorded {
  /** The plugin's type. */
  readonly type: string;
  readonly command: string;
  /** The variables that begin with CNI_. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly config: JsonObject;
  /** The network namespace that it ran in: `net:[4026531840]`. */
  readonly ranIn: string;
  /** The one that CNI_NETNS named then; empty when none. */
  readonly netns: string;
}

/** See the file's comment. */
export class Recorders {
  /** Where the programs are. */
  readonly bin: string;
  readonly #state: string;

  /** @param types what the plugins are called */
  constructor(directory: string, types: readonly string[]) {
    this.bin = join(directory, 'bin');
    this.#state = join(directory, 'state');
    for (const name of ['calls', 'behave', 'results']) makeDirectory(join(this.#state, name));
    mkdirSync(this.bin);
    for (const type of types) this.install(this.bin, type);
  }

  /** Puts a recorder into a directory. */
  install(directory: string, type: string): void {
    const program = join(directory, type);
    writeFileSync(program, script(this.#state, type));
    chmodSync(program, 0o755);
  }

  /** What a plugin's ADD is to answer. */
  answer(type: string, result: JsonObject): void {
    writeFileSync(join(this.#state, 'results', type), JSON.stringify(result));
  }

  /** Shell commands that run in place of an answer, as long as the result is not disposed of. */
  misbehave(type: string, command: string, commands: string): Disposable {
    const path = join(this.#state, 'behave', `${type}.${command}`);
    writeFileSync(path, commands);
    return { [Symbol.dispose]: () => rmSync(path, { force: true }) };
  }

  /** The calls since they were last forgotten, in order; VERSION, which runtimes may ask for at any time, left out. */
  calls(): readonly Recorded[] {
    const directory = join(this.#state, 'calls');
    return readdirSync(directory)
      .sort()
      .map((name) => readCall(join(directory, name)))
      .filter(({ command }) => command !== 'VERSION');
  }

  /** Forgets the calls so far. */
  forget(): void {
    rmSync(join(this.#state, 'calls'), { recursive: true });
    mkdirSync(join(this.#state, 'calls'));
  }
}

function readCall(directory: string): Recorded {
  const read = (name: string) => readFileSync(join(directory, name), 'utf8');
  const env = Object.fromEntries(
    read('env')
      .split('\0')
      .filter((line) => line.startsWith('CNI_'))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const),
  );
  const stdin = read('stdin');
  return {
    ...{ type: read('type').trim(), command: env['CNI_COMMAND'] ?? '', env, stdin, config: parsed(stdin) },
    ...{ ranIn: read('ran-in').trim(), netns: read('netns').trim() },
  };
}

function parsed(text: string): JsonObject {
  try {
    const json: unknown = JSON.parse(text);
    return isJsonObject(json) ? json : {};
  } catch {
    return {};
  }
}

/**
 * Calls get numbers in the order in which they come: `mkdir` is the lock. A runtime may call once more when nothing is
 * recorded any longer.
 */
function script(state: string, type: string): string {
  return `#!/bin/sh
PATH=/usr/sbin:/usr/bin:/sbin:/bin; export PATH
state='${state}' type='${type}' n=1000
until mkdir "$state/calls/$n" 2>/dev/null; do
  [ -e "$state/calls/$n" ] || exit 1
  n=$((n + 1))
done
note="$state/calls/$n"
cat >"$note/stdin"
cat /proc/self/environ >"$note/env"
echo "$type" >"$note/type"
readlink /proc/self/ns/net >"$note/ran-in"
if [ -n "$CNI_NETNS" ] && [ -e "$CNI_NETNS" ]; then stat -L -c 'net:[%i]' "$CNI_NETNS"; fi >"$note/netns" 2>/dev/null
behave="$state/behave/$type.$CNI_COMMAND"
if [ -e "$behave" ]; then . "$behave"; fi
case $CNI_COMMAND in
  ADD) cat "$state/results/$type";;
  VERSION) echo '{"cniVersion":"1.1.0","supportedVersions":["0.1.0","0.2.0","0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]}';;
esac
exit 0
`;
}

/**
 * An IPAM plugin of the kit, in the shell: it gives every attachment an address of each family, remembers who has which,
 * notes each call, and misbehaves when it is told to.
 */

import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, JsonObject } from '@heddle/cni';
import { makeDirectory } from '@heddle/sys';

/** The type that configurations name it by. */
export const STUB_IPAM = 'conformance-ipam';

/** How a call of the stub ends. */
export interface Misbehaviour {
  /** Shell commands that run in place of its answer. */
  readonly script: string;
}

/** A call that the stub was given. */
export interface StubCall {
  readonly env: Readonly<Record<string, string>>;
  readonly config: JsonObject;
  readonly stdin: string;
}

/** See the file's comment. */
export class StubIpam {
  /** Where its program is: a directory for CNI_PATH. */
  readonly bin: string;
  readonly #state: string;

  /** @param directory an empty one of its own */
  constructor(directory: string) {
    this.bin = join(directory, 'bin');
    this.#state = join(directory, 'state');
    for (const name of ['calls', 'held', 'behave']) makeDirectory(join(this.#state, name));
    mkdirSync(this.bin);
    const program = join(this.bin, STUB_IPAM);
    writeFileSync(program, script(this.#state));
    chmodSync(program, 0o755);
  }

  /** The calls so far, in order. */
  calls(command?: Command): readonly StubCall[] {
    const directory = join(this.#state, 'calls');
    const names = readdirSync(directory).filter((name) => name.endsWith('.env'));
    return names
      .map((name) => ({ name, time: statSync(join(directory, name), { bigint: true }).mtimeNs }))
      .sort((a, b) => (a.time < b.time ? -1 : 1))
      .map(({ name }) => {
        const stdin = readFileSync(join(directory, name.replace(/env$/, 'stdin')), 'utf8');
        const env = variables(readFileSync(join(directory, name), 'utf8'));
        return { env, stdin, config: parsed(stdin) };
      })
      .filter(({ env }) => command === undefined || env['CNI_COMMAND'] === command);
  }

  /** Forgets the calls so far. */
  forgetCalls(): void {
    rmSync(join(this.#state, 'calls'), { recursive: true });
    mkdirSync(join(this.#state, 'calls'));
  }

  /** Who holds addresses: `CONTAINERID IFNAME`, one for each. */
  held(): readonly string[] {
    const directory = join(this.#state, 'held');
    return readdirSync(directory)
      .map((name) => readFileSync(join(directory, name, 'key'), 'utf8').trim())
      .sort();
  }

  /** Has a command misbehave, for as long as the result is not disposed of. */
  misbehave(command: Command, { script: text }: Misbehaviour): Disposable {
    const path = join(this.#state, 'behave', command);
    writeFileSync(path, text);
    return { [Symbol.dispose]: () => rmSync(path, { force: true }) };
  }
}

function variables(text: string): Readonly<Record<string, string>> {
  const pairs = text.split('\n').flatMap((line) => {
    const at = line.indexOf('=');
    return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
  });
  return Object.fromEntries(pairs);
}

function parsed(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return {};
  }
}

/** Addresses 2 to 250 of 10.210.0.0/24 and fd00:210::/64: `mkdir` is the lock. */
function script(state: string): string {
  return `#!/bin/sh
PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C; export PATH LC_ALL
state='${state}'
note="$state/calls/$$.$CNI_COMMAND.$CNI_CONTAINERID"
cat >"$note.stdin"
env | grep '^CNI_' >"$note.env"
version=$(sed -n 's/.*"cniVersion" *: *"\\([^"]*\\)".*/\\1/p' "$note.stdin" | head -n 1)
behave="$state/behave/$CNI_COMMAND"
if [ -e "$behave" ]; then . "$behave"; fi
mine() {
  for each in "$state"/held/*/; do
    [ "$(cat "$each/key" 2>/dev/null)" = "$CNI_CONTAINERID $CNI_IFNAME" ] && echo "$each"
  done
}
result() {
  four="\\"10.210.0.$1/24\\",\\"gateway\\":\\"10.210.0.1\\"" six="\\"fd00:210::$1/64\\",\\"gateway\\":\\"fd00:210::1\\""
  case $version in
    ''|0.1.0|0.2.0) echo "{\\"cniVersion\\":\\"$version\\",\\"ip4\\":{\\"ip\\":$four,\\"routes\\":[{\\"dst\\":\\"0.0.0.0/0\\"}]},\\"ip6\\":{\\"ip\\":$six,\\"routes\\":[{\\"dst\\":\\"::/0\\"}]},\\"dns\\":{}}";;
    0.*) echo "{\\"cniVersion\\":\\"$version\\",\\"ips\\":[{\\"version\\":\\"4\\",\\"address\\":$four},{\\"version\\":\\"6\\",\\"address\\":$six}],\\"routes\\":[{\\"dst\\":\\"0.0.0.0/0\\"},{\\"dst\\":\\"::/0\\"}],\\"dns\\":{}}";;
    *) echo "{\\"cniVersion\\":\\"$version\\",\\"ips\\":[{\\"address\\":$four},{\\"address\\":$six}],\\"routes\\":[{\\"dst\\":\\"0.0.0.0/0\\"},{\\"dst\\":\\"::/0\\"}]}";;
  esac
}
case $CNI_COMMAND in
  ADD)
    n=2
    until mkdir "$state/held/$n" 2>/dev/null; do
      n=$((n + 1))
      if [ $n -gt 250 ]; then echo "{\\"cniVersion\\":\\"$version\\",\\"code\\":11,\\"msg\\":\\"no address left\\"}"; exit 1; fi
    done
    echo "$CNI_CONTAINERID $CNI_IFNAME" >"$state/held/$n/key"
    result $n;;
  DEL) for each in $(mine); do rm -r "$each"; done;;
  CHECK) if [ -z "$(mine)" ]; then echo "{\\"cniVersion\\":\\"$version\\",\\"code\\":150,\\"msg\\":\\"no address is held\\"}"; exit 1; fi;;
  GC)
    for each in "$state"/held/*/; do
      read -r id ifname <"$each/key" || continue
      grep -q "\\"$id\\"" "$note.stdin" || rm -r "$each"
    done;;
  VERSION) echo '{"cniVersion":"1.1.0","supportedVersions":["0.1.0","0.2.0","0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]}';;
esac
exit 0
`;
}

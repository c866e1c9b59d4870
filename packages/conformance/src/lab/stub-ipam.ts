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

/** What a runtime may give a plugin. */
const VARIABLES = ['COMMAND', 'CONTAINERID', 'NETNS', 'IFNAME', 'ARGS', 'PATH'].map((name) => `CNI_${name}`);

/**
 * Addresses 2 to 250 of 10.210.0.0/24 and fd00:210::/64: `mkdir` is the lock. What the shell can do itself it does: it is called
 * thousands of times, and each program that it starts takes longer than all the rest, above all where the machine is emulated.
 */
function script(state: string): string {
  const given = VARIABLES.map((name) => `\${${name}+${name}=$${name}$line}`).join('');
  return `#!/bin/sh
PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C; export PATH LC_ALL
state='${state}'
line='
'
note="$state/calls/$$.$CNI_COMMAND.$CNI_CONTAINERID"
cat >"$note.stdin"
printf %s "${given}" >"$note.env"
behave="$state/behave/$CNI_COMMAND"
find_version() {
  version=$(sed -n '/"cniVersion"/{s/.*"cniVersion" *: *"\\([^"]*\\)".*/\\1/p;q}' "$note.stdin")
}
if [ -e "$behave" ]; then find_version; . "$behave"; fi
# Sets the path of what this attachment holds.
find_mine() {
  for mine in "$state"/held/*/; do
    key=
    { read -r key <"$mine/key"; } 2>/dev/null
    [ "$key" = "$CNI_CONTAINERID $CNI_IFNAME" ] && return
  done
  return 1
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
    find_version
    n=2
    until mkdir "$state/held/$n" 2>/dev/null; do
      n=$((n + 1))
      if [ $n -gt 250 ]; then echo "{\\"cniVersion\\":\\"$version\\",\\"code\\":11,\\"msg\\":\\"no address left\\"}"; exit 1; fi
    done
    echo "$CNI_CONTAINERID $CNI_IFNAME" >"$state/held/$n/key"
    result $n;;
  DEL) while find_mine; do rm -rf "$mine"; done;;
  CHECK) if ! find_mine; then find_version; echo "{\\"cniVersion\\":\\"$version\\",\\"code\\":150,\\"msg\\":\\"no address is held\\"}"; exit 1; fi;;
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

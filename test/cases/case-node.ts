/**
 * A node as the reports tell of one: our plugins are installed, stubs stand before them in the plugin path, and
 * there are a directory of networks, a runtime, and the `heddle` command.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  CNI_VERSIONS,
  type Command,
  type JsonObject,
  type NetworkConfigList,
  type ValidAttachment,
} from '@heddle/cni';
import type { Runtime } from '@heddle/cni/runtime';
import { assertUnchanged, leftovers } from '../support/leftovers.ts';
import { Node, type Pod } from '../support/node.ts';
import { installPlugins } from '../support/plugin-directory.ts';
import { until } from '../support/until.ts';

/** How a process ended. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One call of a plugin's program, past any runtime. */
export interface DirectCall {
  readonly command: Command;
  readonly config: JsonObject;
  readonly pod?: Pod;
  readonly args?: string;
}

/** See the file's comment. */
export class CaseNode extends Node {
  /** The directory of our plugins. */
  readonly bin: string = installPlugins(join(this.directory, 'bin'));
  /** The directory of stubs. */
  readonly stubs: string = made(join(this.directory, 'stubs'));
  /** The directory of networks. */
  readonly configDir: string = made(join(this.directory, 'net.d'));
  /** Where the runtime remembers attachments. */
  readonly cacheDir: string = join(this.directory, 'cache');
  /** Where host-local keeps reservations. */
  readonly dataDir: string = join(this.directory, 'ipam');
  /** What the runtime warned of. */
  readonly warnings: string[] = [];
  /** What plugins that succeeded said on stderr. */
  readonly said: string[] = [];
  /** Runs stubs and our plugins. */
  readonly cni: Runtime = this.runtime([this.stubs, this.bin], {
    onWarning: (message) => void this.warnings.push(message),
    onStderr: (text) => void this.said.push(text),
  });

  /** Writes a file among the networks, as it is or as JSON, and returns its path. */
  config(name: string, content: unknown): string {
    const path = join(this.configDir, name);
    made(dirname(path));
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  /** A network of these plugins, with the reservations in this node's own directory. */
  list(name: string, plugins: readonly JsonObject[], more: JsonObject = {}): NetworkConfigList {
    return this.network(JSON.stringify({ cniVersion: '1.1.0', name, plugins, ...more }));
  }

  /**
   * Installs a stub: it notes down its calls, answers VERSION, and on each command runs the script that is given
   * for it. A script finds its stdin in `$stdin`.
   */
  stub(type: string, scripts: Partial<Record<Command, string>> = {}): string {
    const path = join(this.stubs, type);
    const cases = Object.entries({ VERSION: printVersions(CNI_VERSIONS), ...scripts }).map(
      ([command, script]) => `${command}) ${script} ;;`,
    );
    const notes = [
      'stdin=$(cat)',
      `echo "$CNI_COMMAND ${type} $CNI_CONTAINERID" >> '${this.#calls}'`,
      `printf %s "$stdin" > '${this.#stdin(type)}'.$CNI_COMMAND`,
    ];
    const script = `#!/bin/sh\n${notes.join('\n')}\ncase $CNI_COMMAND in\n${cases.join('\n')}\nesac\n`;
    writeFileSync(path, script, { mode: 0o755 });
    return path;
  }

  /** How stubs were called until now, without VERSION: `ADD main c1`. */
  calls(): readonly string[] {
    if (!existsSync(this.#calls)) return [];
    const lines = readFileSync(this.#calls, 'utf8').trim().split('\n');
    return lines.map((line) => line.trim()).filter((line) => !line.startsWith('VERSION'));
  }

  /** What a stub was given last on a command. */
  stdinOf(type: string, command: Command): JsonObject {
    return JSON.parse(readFileSync(`${this.#stdin(type)}.${command}`, 'utf8')) as JsonObject;
  }

  /** Runs the program of one of our plugins, or of a stub. */
  call(type: string, { command, config, pod, args = '' }: DirectCall): Ended {
    const { containerID = '', ifName = '', netns = '' } = pod?.attachment ?? {};
    const stub = join(this.stubs, type);
    const isAboutOne = pod !== undefined;
    const env = {
      PATH: process.env['PATH'] ?? '',
      CNI_COMMAND: command,
      CNI_PATH: `${this.stubs}:${this.bin}`,
      ...(isAboutOne && {
        CNI_CONTAINERID: containerID,
        CNI_IFNAME: ifName,
        CNI_NETNS: netns,
        CNI_ARGS: args,
      }),
    };
    const program = existsSync(stub) ? stub : join(this.bin, type);
    return this.#spawn(program, [], env, JSON.stringify(config));
  }

  /** Runs `heddle COMMAND …` on this node, with this node's networks, plugins and cache unless `env` says otherwise. */
  heddle(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Ended {
    const words = ['--conditions=source', 'packages/cli/src/main.ts', command, ...args];
    const cache = CACHED.has(command) ? ['--cache-dir', this.cacheDir] : [];
    return this.#spawn(process.execPath, [...words, ...cache], {
      PATH: process.env['PATH'] ?? '',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      NETCONFPATH: this.configDir,
      CNI_PATH: `${this.stubs}:${this.bin}`,
      ...env,
    });
  }

  /** Everything that an attachment could leave behind. */
  state(): readonly string[] {
    return leftovers(this, [this.dataDir, this.cacheDir]);
  }

  /** The same, once a first attachment has come and gone, and what all attachments share is there. */
  async settled(
    network: NetworkConfigList,
    more: Partial<Pod['attachment']> = {},
  ): Promise<readonly string[]> {
    using first = this.pod('first', more);
    await this.cni.add(network, first.attachment);
    // Until the kernel has probed an IPv6 address of the node's own, it has no route to it; without a carrier it waits.
    await until('addresses of the node that can be used', () =>
      this.run('ip -6 -o address show tentative scope global') === '' ? true : undefined,
    );
    await this.cni.del(network, first.attachment);
    return this.state();
  }

  /** Asserts that nothing was left since. */
  assertClean(before: readonly string[]): void {
    assertUnchanged(before, this.state());
  }

  get #calls(): string {
    return join(this.directory, 'calls');
  }

  #stdin(type: string): string {
    return join(made(join(this.directory, 'stdin')), type);
  }

  #spawn(program: string, args: readonly string[], env: Readonly<Record<string, string>>, input = ''): Ended {
    const { status, stdout, stderr } = this.inside(() =>
      spawnSync(program, args, { env, input, encoding: 'utf8' }),
    );
    return { status, stdout, stderr };
  }
}

/** A script that answers VERSION with these. */
export function printVersions(supportedVersions: readonly string[]): string {
  return print({ cniVersion: supportedVersions.at(-1), supportedVersions });
}

/** A script that prints a text, or a value as JSON. */
export function print(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `printf %s '${text.replaceAll("'", "'\\''")}'`;
}

/** A script that prints the result that a chained plugin is given. Members of stdin are in the order of their names. */
export const PASS_ON = `printf %s "$stdin" | sed 's/.*"prevResult":\\(.*\\),"type":.*/\\1/'`;

/** How GC is told that a pod lives. */
export function validOf({ attachment: { containerID, ifName } }: Pod): ValidAttachment {
  return { containerID, ifname: ifName };
}

/** The commands of `heddle` that look into the runtime's cache. */
const CACHED: ReadonlySet<string> = new Set(['add', 'check', 'del', 'gc', 'ls', 'show', 'status', 'version']);

function made(directory: string): string {
  mkdirSync(directory, { recursive: true });
  return directory;
}

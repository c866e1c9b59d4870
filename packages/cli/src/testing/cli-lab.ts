/**
 * A machine for tests of the command: directories of its own, captured streams, signals on demand. Commands
 * run in this process, through the same door as `main.ts` uses.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KernelSession, Link } from '@heddle/netlink';
import { makeDirectory } from '@heddle/sys';
import { heddle } from '../heddle.ts';
import type { Places, SignalSource, Surroundings } from '../surroundings.ts';

/** How a command ended. */
export interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** See the file's comment. */
export class CliLab implements Disposable {
  /** A directory for everything; the working directory of commands. */
  readonly root = mkdtempSync(join(tmpdir(), 'heddle-cli-'));
  readonly places: Places;
  readonly signals = new TestSignals();
  /** Whether stdin is a terminal. */
  isInteractive = false;
  isRoot = true;
  /** Whether stdout and stderr are terminals. */
  isTerminal = false;
  /** Milliseconds since the epoch. */
  now: number = Date.now();
  readonly #openHost: () => KernelSession;

  /** @param openHost the kernel that commands see; by default one with nothing but these links in it */
  constructor({ openHost, links = [] }: { openHost?: () => KernelSession; links?: readonly Link[] } = {}) {
    const at = (name: string): string => {
      makeDirectory(join(this.root, name));
      return join(this.root, name);
    };
    this.places = {
      configDir: at('net.d'),
      pluginDir: at('bin'),
      otherPluginDirs: [at('other-bin')],
      cacheDir: at('cache'),
      lockDir: at('locks'),
      markDir: at('marks'),
      netnsDir: at('netns'),
      reservationDir: at('cache/networks'),
      silenceFile: join(this.root, 'silence.jsonc'),
      programDirs: [at('program')],
      command: join(this.root, 'checkout/bin/heddle'),
      nodeConfig: join(this.root, 'node.json'),
      agentPid: join(this.root, 'agent.pid'),
      agentLog: join(this.root, 'agent.log'),
      runtimeConfigs: [join(this.root, 'config.toml'), join(this.root, 'containers.conf')],
    };
    this.#openHost = openHost ?? (() => linksOnly(links));
  }

  /** Runs a command line. */
  async run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
    const out: string[] = [];
    const err: string[] = [];
    const surroundings: Surroundings = {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...env },
      cwd: this.root,
      stdout: { write: (text) => void out.push(text), isTerminal: this.isTerminal, isStyled: false },
      stderr: { write: (text) => void err.push(text), isTerminal: this.isTerminal, isStyled: false },
      isInteractive: this.isInteractive,
      isRoot: this.isRoot,
      places: this.places,
      now: () => this.now,
      randomBytes: (count) => new Uint8Array(count).fill(0xab),
      openHost: this.#openHost,
      signals: this.signals,
    };
    const exitCode = await heddle(args, surroundings);
    return { exitCode, stdout: out.join(''), stderr: err.join('') };
  }

  /**
   * Installs a plugin that is a shell script: it notes down how it was called, then does as it is told.
   *
   * @param script shell commands; `$CNI_COMMAND` says what is asked, stdout is the answer
   */
  stub(type: string, script: string): void {
    const log = join(this.root, 'calls');
    const path = join(this.places.pluginDir, type);
    const note = `echo "${type} $CNI_COMMAND $CNI_CONTAINERID $CNI_NETNS $CNI_IFNAME $CNI_ARGS" >> '${log}'`;
    writeFileSync(path, `#!/bin/sh\nstdin=$(cat)\n${note}\n${script}\n`, { mode: 0o755 });
  }

  /** How stubs were called until now: type, command, container, namespace, interface, arguments. */
  calls(): readonly string[] {
    const text = readFileSync(join(this.root, 'calls'), { encoding: 'utf8', flag: 'a+' });
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.trimEnd());
  }

  /** Runs it with `-o json` and gives the document. */
  async json(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<unknown> {
    return JSON.parse((await this.run([...args, '-o', 'json'], env)).stdout);
  }

  /** Writes a file below the root; JSON when it is no text. */
  write(path: string, content: unknown): string {
    const full = join(this.root, path);
    writeFileSync(full, typeof content === 'string' ? content : JSON.stringify(content));
    return full;
  }

  /** Reads one back. */
  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Signals that a test sends. */
class TestSignals implements SignalSource {
  readonly #handlers = new Set<(signal: NodeJS.Signals) => void>();

  listen(signals: readonly NodeJS.Signals[], handle: (signal: NodeJS.Signals) => void): Disposable {
    const wrapped = (signal: NodeJS.Signals): void => {
      if (signals.includes(signal)) handle(signal);
    };
    this.#handlers.add(wrapped);
    return { [Symbol.dispose]: () => void this.#handlers.delete(wrapped) };
  }

  /** As if the process got it. */
  send(signal: NodeJS.Signals): void {
    for (const handle of [...this.#handlers]) handle(signal);
  }

  /** How many listen. */
  get listeners(): number {
    return this.#handlers.size;
  }
}

/** A link for {@link CliLab}, of which only name and owner matter. */
export function linkNamed(name: string, alias?: string): Link {
  return {
    ...{
      index: 7,
      name,
      kind: 'veth',
      type: 1,
      mtu: 1500,
      flags: 0,
      up: true,
      running: true,
      operstate: 'up',
    },
    ...{ altNames: [], txQueueLength: 0, promiscuity: 0, allmulti: false, group: 0 },
    ...(alias !== undefined && { alias }),
  };
}

function linksOnly(links: readonly Link[]): KernelSession {
  const nothing = { list: async () => [] };
  return {
    ...{
      links: { list: async () => links, find: async () => undefined },
      addresses: nothing,
      routes: nothing,
    },
    nft: { tables: async () => [] },
    sysctl: { has: async () => false },
    [Symbol.dispose]() {},
  } as unknown as KernelSession;
}

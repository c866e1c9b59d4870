/** The node that plugins are called on: a namespace with what the plugin under test needs in it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KitError } from '../failure.ts';
import type { Setup } from '../subject/well-known.ts';
import type { House } from './house.ts';
import { Lan } from './lan.ts';
import { Namespace } from './namespace.ts';
import { StubIpam } from './stub-ipam.ts';

/** A program that plugins talk to. */
export interface Daemon {
  /** A shell command. */
  readonly command: string;
  /** A path, such as its socket, that is there when it is ready; without it, the kit waits for a moment. */
  readonly ready?: string | undefined;
  /** Whether what it says is of no interest. */
  readonly isQuiet?: boolean;
}

/** What a node is made with. */
export interface NodeOptions {
  readonly house: House;
  /** Unique in the house. */
  readonly number: number;
  readonly setup: Setup;
  /** What runs on the node as long as it is there. */
  readonly daemons: readonly Daemon[];
  readonly surroundings: Readonly<Record<string, string>>;
}

/** See the file's comment. */
export class Node implements Disposable {
  readonly namespace: Namespace;
  readonly stub: StubIpam;
  /** A namespace that no plugin sees. */
  readonly morgue: Namespace;
  readonly #number: number;
  #containers = 0;
  readonly #options: NodeOptions;
  /** In the order in which they were started first. */
  readonly #daemons: ChildProcess[] = [];
  #lan: Lan | undefined;

  private constructor(options: NodeOptions) {
    const { house, number } = options;
    this.#options = options;
    this.#number = number;
    this.namespace = new Namespace(`kit-node${number}`);
    this.morgue = new Namespace(`kit-morgue${number}`);
    const directory = join(house.directory, `node${number}`);
    mkdirSync(directory);
    this.stub = new StubIpam(directory);
  }

  /** Makes a node. Its loopback is up. */
  static async make(options: NodeOptions): Promise<Node> {
    const node = new Node(options);
    try {
      await node.#setUp();
      return node;
    } catch (error) {
      node[Symbol.dispose]();
      throw error;
    }
  }

  async #setUp(): Promise<void> {
    const { setup, number, daemons } = this.#options;
    await this.namespace.session.links.set('lo', { up: true });
    await setup.prepareNode?.(this.namespace);
    if (setup.needsDhcp === true) this.#lan = await Lan.make(`kit-lan${number}`);
    for (const daemon of daemons) this.#daemons.push(await this.#start(daemon));
  }

  /** The processes of its daemons. */
  get daemons(): readonly number[] {
    return this.#daemons.map(({ pid = 0 }) => pid);
  }

  /** Starts a daemon anew, whatever has become of it. @param index which one, as in {@link daemons} */
  async restart(index: number): Promise<void> {
    const [former, daemon] = [this.#daemons[index], this.#options.daemons[index]];
    if (former === undefined || daemon === undefined) throw new RangeError(`there is no daemon ${index}`);
    if (former.pid !== undefined) killGroup(former.pid);
    if (!hasEnded(former)) await once(former, 'exit');
    this.#daemons[index] = await this.#start(daemon);
  }

  /** A number that no container of this node has had. */
  nextContainer(): number {
    return ++this.#containers;
  }

  /** What makes names unique. */
  get tag(): string {
    return `kit${this.#number}`;
  }

  /** The network with a DHCP server, for plugins that need one. */
  get lan(): Lan | undefined {
    return this.#lan;
  }

  [Symbol.dispose](): void {
    for (const { pid } of this.#daemons) if (pid !== undefined) killGroup(pid);
    this.#lan?.[Symbol.dispose]();
    this.namespace[Symbol.dispose]();
    this.morgue[Symbol.dispose]();
  }

  async #start({ command, ready, isQuiet = false }: Daemon): Promise<ChildProcess> {
    const { surroundings: env } = this.#options;
    if (ready !== undefined) rmSync(ready, { recursive: true, force: true });
    const child = this.namespace.inside(() =>
      spawn('/bin/sh', ['-c', inPlaceOfShell(command)], {
        env,
        detached: true,
        stdio: ['ignore', 'ignore', isQuiet ? 'ignore' : 'inherit'],
      }),
    );
    for (let waited = 0; ready === undefined ? waited < SETTLING : !existsSync(ready); waited += 20) {
      if (waited > LONGEST) {
        if (child.pid !== undefined) killGroup(child.pid);
        throw new KitError(`the daemon has not made ${ready}: ${command}`);
      }
      if (hasEnded(child)) break;
      await sleep(20);
    }
    if (!hasEnded(child)) return child;
    if (child.pid !== undefined) killGroup(child.pid);
    const { exitCode, signalCode } = child;
    const how = signalCode === null ? `with exit code ${exitCode}` : `by ${signalCode}`;
    throw new KitError(`the daemon ended at once, ${how}: ${command}`);
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** The script by which a command becomes the process that was started, whose calls can be followed then. */
function inPlaceOfShell(command: string): string {
  const simple = command.trim().replace(/^exec\s+/, '');
  return `exec ${/^[A-Za-z_]\w*=/.test(simple) ? 'env ' : ''}${simple}`;
}

/** Milliseconds for a daemon that does not say when it is ready, and the most for one that does. */
const SETTLING = 1500;
const LONGEST = 60_000;

/** Ends a process and all that it has started. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

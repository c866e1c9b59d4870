/** A plugin's surroundings inside the agent, for one call. */
import { dirname, join } from 'node:path';
import type {
  Clock,
  Decoded,
  InflightPort,
  Operation,
  Plugin,
  PluginExecution,
  PluginHost,
  Random,
} from '@heddle/cni/plugin';
import { type AttachmentTurns, type Handover, systemPluginHost } from '@heddle/cni/runtime';
import { type KernelSession, type ModeChoice, openSession } from '@heddle/netlink';
import { type Fd, type NetnsHandle, openNetns, SysError } from '@heddle/sys';
import type { KnownPrograms } from './known-programs.ts';
import type { StepLog } from './observe/steps.ts';
import type { SessionPool } from './session-pool.ts';

/** What all calls share. */
export interface SharedSurroundings {
  readonly plugins: ReadonlyMap<string, Plugin>;
  readonly sessions: SessionPool;
  readonly turns: AttachmentTurns;
  readonly decoded: Decoded;
  readonly programs: KnownPrograms;
  readonly inflight: InflightPort;
  readonly clock: Clock;
  readonly random: Random;
  /** Where marks of running ADDs are kept. */
  readonly marks: string;
  /** How kernel requests are made at the moment. */
  readonly mode: ModeChoice;
}

/** What is a call's own. */
export interface OwnSurroundings {
  readonly call: Handover;
  /** What CNI_NETNS named when the caller opened it. */
  readonly netns: Fd | undefined;
  /** Aborted when the caller has gone. */
  readonly caller: AbortSignal;
  /** What delegates print on stderr. */
  readonly onStderr: (text: string) => void;
  /** Notes where the call's time goes. */
  readonly steps: StepLog;
}

/** The ports for one call. What needs no call of its own to be known is the same object for all. */
export function callHost(shared: SharedSurroundings, own: OwnSurroundings): PluginHost {
  return new CallHost(shared, own);
}

class CallHost implements PluginHost {
  readonly #shared: SharedSurroundings;
  readonly #own: OwnSurroundings;
  #system: PluginHost | undefined;

  constructor(shared: SharedSurroundings, own: OwnSurroundings) {
    this.#shared = shared;
    this.#own = own;
  }

  get caller(): AbortSignal {
    return this.#own.caller;
  }

  get decoded(): Decoded {
    return this.#shared.decoded;
  }

  get inflight() {
    return this.#shared.inflight;
  }

  get clock() {
    return this.#shared.clock;
  }

  get random() {
    return this.#shared.random;
  }

  openNetns(path: string): NetnsHandle {
    const { netns, call } = this.#own;
    return netns !== undefined && path === call.env['CNI_NETNS'] ? reopen(netns, path) : openNetns(path);
  }

  openSession(inside?: NetnsHandle): KernelSession {
    const { sessions, mode } = this.#shared;
    const onExchange = () => this.#own.steps.begin('kernel');
    return inside === undefined
      ? sessions.take(onExchange)
      : openSession({ netns: inside, mode, onExchange });
  }

  findPlugin(type: string, path: readonly string[]): string {
    return this.#shared.programs.find(type, path, () => this.#systemHost().findPlugin(type, path));
  }

  invoke(execution: PluginExecution): Promise<string> {
    return this.#systemHost().invoke(execution);
  }

  inProcess(type: string, path: string): Plugin | undefined | Promise<Plugin | undefined> {
    const { steps } = this.#own;
    const plugin = this.#systemHost().inProcess?.(type, path);
    return plugin instanceof Promise
      ? plugin.then((found) => found && steps.delegate(found))
      : plugin && steps.delegate(plugin);
  }

  exclusive(operation: Operation): Promise<Disposable> {
    const { steps, caller } = this.#own;
    // A DEL is done also for a caller that has gone.
    const signal = operation.command === 'DEL' ? undefined : caller;
    return steps.around('turn', () => this.#shared.turns.take(operation, signal));
  }

  /** The programs of the caller's installation are this code too: its delegates run here. */
  #systemHost(): PluginHost {
    const { plugins, marks } = this.#shared;
    const { call, onStderr } = this.#own;
    const executables = [call.program, join(dirname(call.program), 'heddle-cni')];
    this.#system ??= systemPluginHost({ own: { executables, plugins }, marks, onStderr });
    return this.#system;
  }
}

/** A descriptor of one's own of what the caller has opened; what is no namespace, its path explains best. */
function reopen(netns: Fd, path: string): NetnsHandle {
  try {
    return openNetns(`/proc/self/fd/${netns.number}`);
  } catch (error) {
    if (error instanceof SysError) return openNetns(path);
    throw error;
  }
}

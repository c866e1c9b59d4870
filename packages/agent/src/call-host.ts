/** A plugin's surroundings inside the agent, for one call. */
import { dirname, join } from 'node:path';
import type { Decoded, Plugin, PluginHost } from '@heddle/cni/plugin';
import { type AttachmentTurns, type Handover, systemPluginHost } from '@heddle/cni/runtime';
import { type ModeChoice, openSession } from '@heddle/netlink';
import { type Fd, type NetnsHandle, openNetns, SysError } from '@heddle/sys';
import type { StepLog } from './observe/steps.ts';
import type { SessionPool } from './session-pool.ts';

/** What all calls share. */
export interface SharedSurroundings {
  readonly plugins: ReadonlyMap<string, Plugin>;
  readonly sessions: SessionPool;
  readonly turns: AttachmentTurns;
  readonly decoded: Decoded;
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

/** The ports for one call. */
export function callHost(shared: SharedSurroundings, own: OwnSurroundings): PluginHost {
  const { plugins, sessions, turns, decoded, marks, mode } = shared;
  const { call, netns, caller, onStderr, steps } = own;
  // The programs of the caller's installation are this code too: its delegates run here.
  const executables = [call.program, join(dirname(call.program), 'heddle-cni')];
  const system = systemPluginHost({ own: { executables, plugins }, marks, onStderr });
  const onExchange = () => steps.begin('kernel');
  return {
    ...system,
    openNetns: (path) =>
      netns !== undefined && path === call.env['CNI_NETNS'] ? reopen(netns, path) : openNetns(path),
    openSession: (inside) =>
      inside === undefined ? sessions.take(onExchange) : openSession({ netns: inside, mode, onExchange }),
    // A DEL is done also for a caller that has gone.
    exclusive: (operation) =>
      steps.around('turn', () => turns.take(operation, operation.command === 'DEL' ? undefined : caller)),
    async inProcess(type, path) {
      const plugin = await system.inProcess?.(type, path);
      return plugin && steps.delegate(plugin);
    },
    ...{ caller, decoded },
  };
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

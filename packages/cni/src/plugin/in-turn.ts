/**
 * One operation at a time on an attachment, between all processes that serve plugins: a DEL whose runtime has given up
 * an ADD waits for what that still does. Plugins that a plugin starts work in its turn.
 */
import { type AttachmentId, attachmentKey } from '../attachment.ts';
import type { Command } from '../environment.ts';
import { HELD_LOCKS, heldLocks } from '../held-locks.ts';
import type { Run } from './run.ts';

/** Runs an operation when it is its attachment's turn; those that are about no single attachment, at once. */
export async function inTurn<T>(run: Run, operate: (run: Run) => Promise<T>): Promise<T> {
  const { ports, command, invocation, request, env, plugin } = run;
  if (ports.exclusive === undefined || !ABOUT_ONE.includes(command)) return await operate(run);
  const attachment: AttachmentId = {
    network: request.network,
    containerID: invocation.containerID,
    ifName: invocation.ifName,
  };
  const name = `attachment/${attachmentKey(attachment)}`;
  const held = heldLocks(env);
  if (held.includes(name)) return await operate(run);
  using _turn = await ports.exclusive({ type: plugin.type, command, attachment });
  return await operate({ ...run, added: { ...run.added, [HELD_LOCKS]: [...held, name].join(',') } });
}

const ABOUT_ONE: readonly Command[] = ['ADD', 'CHECK', 'DEL'];

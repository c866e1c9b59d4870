/** Whether an attachment is there, before the plugins of a network are run for it. */
import type { Attachment, Runtime } from '@heddle/cni/runtime';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';

/** What a command line says of an attachment. */
export interface Named {
  readonly network: string;
  /** As it was typed. */
  readonly netns: string;
}

/** @throws {CommandError} when the runtime has attached it already: a second ADD could only spoil the first */
export function mustBeNew(runtime: Runtime, attachment: Attachment, { network, netns }: Named): void {
  if (runtime.cachedConfig(network, attachment) === undefined) return;
  const { ifName } = attachment;
  const article = /^[aeiou]/.test(ifName) ? 'an' : 'a';
  const flag = ifName === 'eth0' ? '' : ` -i ${ifName}`;
  throw new CommandError(
    EXIT.FAILED,
    `${netns} has ${article} ${ifName} on ${network} already; heddle del ${network} ${netns}${flag} first`,
  );
}

/** @throws {CommandError} when the runtime does not know of it */
export function mustBeAttached(runtime: Runtime, attachment: Attachment, { network, netns }: Named): void {
  if (runtime.cachedConfig(network, attachment) !== undefined) return;
  const as = attachment.ifName === 'eth0' ? '' : ` as ${attachment.ifName}`;
  throw new CommandError(EXIT.FAILED, `${netns} is not attached to ${network}${as}`, {
    hint: `heddle ls ${network} shows who is`,
  });
}

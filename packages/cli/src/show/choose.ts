/** Which attachments the words on a command line mean. */

import type { ListedAttachment } from '@heddle/doctor/inventory';
import { EXIT } from '../exit-codes.ts';
import { containersOf, findContainer } from '../inventory/find-container.ts';
import { CommandError } from '../output/report-error.ts';

/** What the command line says. */
export interface Choice {
  /** A container's ID or the beginning of one, the path of its namespace, or the name of its pod. */
  readonly container: string;
  /** That path, when the word is taken for a namespace. */
  readonly netns: string;
  readonly network?: string | undefined;
  readonly ifName?: string | undefined;
  /** The command, for messages; `show` when left out. */
  readonly command?: string;
}

/**
 * The attachments of the container that is meant.
 *
 * @throws {CommandError} when there is none, or the word could mean several containers
 */
export function chooseAttachments(
  all: readonly ListedAttachment[],
  { container, netns, network, ifName, command = 'show' }: Choice,
): readonly ListedAttachment[] {
  const candidates = all
    .filter((each) => network === undefined || each.network === network)
    .filter((each) => ifName === undefined || each.ifName === ifName);
  const found = findContainer(candidates, { text: container, netns });
  const containers = containersOf(found);
  if (containers.length === 1) return found;
  throw new CommandError(
    EXIT.FAILED,
    containers.length === 0
      ? `${command} ${container}: no attachment of such a container, namespace or pod`
      : `${command} ${container}: this could be ${containers.join(' or ')}`,
    {
      hint: containers.length === 0 ? 'heddle ls lists the attachments of this node' : 'give more of the ID',
    },
  );
}

/** What `gc` keeps: the attachments that the words on its command line mean, which must be there. */

import type { ListedAttachment } from '@heddle/doctor/inventory';
import { EXIT } from '../exit-codes.ts';
import { containersOf, findContainer } from '../inventory/find-container.ts';
import { CommandError } from '../output/report-error.ts';

/** How words are read. */
export interface KeptOptions {
  readonly network: string;
  /** The path of the namespace that a word would be. */
  readonly netnsPath: (text: string) => string;
}

/**
 * The attachments that `--keep` names: a container as `show` takes it, with all its interfaces, or with `/ifname`
 * one of them.
 *
 * @param candidates the attachments to the network
 * @throws {CommandError} when a word means nothing that is there, or could mean several containers: what was mistyped
 *   would otherwise be taken down
 */
export function keptAttachments(
  candidates: readonly ListedAttachment[],
  words: readonly string[],
  options: KeptOptions,
): readonly ListedAttachment[] {
  return [...new Set(words.flatMap((word) => meantBy(candidates, word, options)))];
}

function meantBy(
  candidates: readonly ListedAttachment[],
  word: string,
  { network, netnsPath }: KeptOptions,
): readonly ListedAttachment[] {
  const find = (text: string) => findContainer(candidates, { text, netns: netnsPath(text) });
  const whole = find(word);
  const slash = word.lastIndexOf('/');
  const found = whole.length > 0 || slash < 0 ? whole : find(word.slice(0, slash));
  const containers = containersOf(found);
  if (containers.length > 1)
    throw refusal(`"${word}" could be ${containers.join(' or ')}`, 'give more of the ID');
  const ifName = whole.length > 0 ? undefined : word.slice(slash + 1);
  const meant = found.filter(
    (each) => ifName === undefined || each.ifName === null || each.ifName === ifName,
  );
  if (meant.length > 0) return meant;
  throw refusal(`no attachment "${word}" on ${network}`, `heddle ls ${network} lists its attachments`);
}

function refusal(why: string, hint: string): CommandError {
  return new CommandError(EXIT.FAILED, `nothing was freed: ${why}`, { hint });
}

/** Which attachments a word on a command line means. */
import type { ListedAttachment } from '@heddle/doctor/inventory';

/** A word that stands for a container. */
export interface ContainerWord {
  /** A container's ID or the beginning of one, a namespace, or the name of a pod. */
  readonly text: string;
  /** The path of the namespace that the word would be. */
  readonly netns: string;
}

/**
 * The attachments of the containers that a word may mean: those with this very ID; else in this namespace; else of
 * this pod; else with an ID that begins so.
 *
 * @returns of several containers only when the word is ambiguous; `containersOf` tells
 */
export function findContainer(
  candidates: readonly ListedAttachment[],
  { text, netns }: ContainerWord,
): readonly ListedAttachment[] {
  if (text === '') return [];
  const meanings: readonly ((each: ListedAttachment) => boolean)[] = [
    (each) => each.containerID === text,
    (each) => each.netns === netns,
    (each) => each.pod?.name === text || `${each.pod?.namespace}/${each.pod?.name}` === text,
    (each) => each.containerID.startsWith(text),
  ];
  return meanings.map((isMeant) => candidates.filter(isMeant)).find((some) => some.length > 0) ?? [];
}

/** The IDs of the containers that attachments belong to, each once. */
export function containersOf(attachments: readonly ListedAttachment[]): readonly string[] {
  return [...new Set(attachments.map(({ containerID }) => containerID))];
}

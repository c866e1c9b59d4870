import type { Message } from './message.ts';

/** A link, by its index or by one of its names. */
export type LinkRef = number | string;

/**
 * One change to the kernel's tables, not yet made: what `plan` methods give and `batch` takes. It becomes
 * a message when it is sent, because names of links are only then looked up.
 */
export type Change = (indexOf: IndexOf) => Message | Promise<Message>;

/** Finds a link's index; one that is given is at hand. */
export type IndexOf = (ref: LinkRef) => number | Promise<number>;

/** The request that a link's index goes into: at once where the index is at hand. */
export function withIndex(
  indexOf: IndexOf,
  ref: LinkRef,
  make: (index: number) => Message,
): Message | Promise<Message> {
  const index = indexOf(ref);
  return typeof index === 'number' ? make(index) : index.then(make);
}

/** How a link is named in an error message. */
export function labelOf(ref: LinkRef): string {
  return typeof ref === 'number' ? `#${ref}` : ref;
}

/** A namespace as the target of a change: an open handle of it. */
export interface NetnsTarget {
  /** The descriptor. */
  readonly number: number;
}

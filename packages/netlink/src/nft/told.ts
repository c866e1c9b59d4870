/**
 * What the kernel tells of a transaction to whom it is from, when asked to: the generation that it has made, and the
 * rules that it has added, with their handles — linux/netlink.h (NLM_F_ECHO), net/netfilter/nf_tables_api.c.
 */
import { decode } from '@heddle/wire';
import { NLM_F } from '../core/header.ts';
import type { Reply } from '../core/message.ts';
import { generationMessage, NFT_MSG, nftType } from './codec/nfgenmsg.ts';
import type { ListedRule } from './model.ts';
import type { PlannedMessage } from './plan.ts';
import { decodeRule } from './read-objects.ts';

/** What was told of a transaction. */
export interface Told {
  /** `undefined`: this kernel does not tell. */
  readonly generation: number | undefined;
  /** Those added, in their order. */
  readonly rules: readonly ListedRule[];
}

/**
 * The messages, asking for what is to be told. The kernel looks at the first one to know who wants to hear of the
 * generation, and at each rule's own.
 */
export function asking(messages: readonly PlannedMessage[]): readonly PlannedMessage[] {
  if (messages.reduce((count, { changes }) => count + changes.length, 0) > MOST_CHANGES) return messages;
  return messages.map((message, index) =>
    index === 0 || message.type === NEW_RULE
      ? { ...message, flags: (message.flags ?? 0) | NLM_F.ECHO }
      : message,
  );
}

/** Reads what was told. */
export function toldIn(replies: readonly Reply[]): Told {
  let generation: number | undefined;
  const rules: ListedRule[] = [];
  for (const { type, body } of replies) {
    if (type === NEW_RULE) rules.push(decodeRule(body));
    else if (type === NEW_GENERATION) generation = decode(generationMessage, body).attributes.id;
  }
  return { generation, rules };
}

const NEW_RULE = nftType(NFT_MSG.NEWRULE);
const NEW_GENERATION = nftType(NFT_MSG.NEWGEN);

/** Of a message with many elements, each would be told of by itself. */
const MOST_CHANGES = 100;

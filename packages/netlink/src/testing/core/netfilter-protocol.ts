/** NETLINK_NETFILTER: batches of nf_tables are done as a whole or not at all, all else message by message — net/netfilter/nfnetlink.c */
import { decode } from '@heddle/wire';
import { IPCTNL_MSG } from '../../conntrack/codec.ts';
import { NLM_F } from '../../core/header.ts';
import type { Framed, Reply } from '../../core/message.ts';
import { batchBegin, NFNL_MSG_BATCH, NFNL_SUBSYS, NFT_MSG } from '../../nft/codec/nfgenmsg.ts';
import { flowHandlers } from '../conntrack/requests.ts';
import { checkReachable } from '../nft/chain-checks.ts';
import { CHANGES, describeGeneration, LISTINGS, QUERIES } from '../nft/requests.ts';
import { Transaction } from '../nft/transaction.ts';
import type { Namespace } from './namespace.ts';
import { Refusal, refuse } from './refusal.ts';
import type { ReplyQueue } from './reply-queue.ts';
import type { Interceptor } from './route-protocol.ts';
import type { Protocol } from './transport.ts';

/** The protocol as spoken to one namespace. */
export function netfilterProtocol(namespace: Namespace, intercept: Interceptor): Protocol {
  return (messages, replies) => {
    for (let at = 0; at < messages.length; at++) {
      const message = messages[at] as Framed;
      if (message.header.type !== NFNL_MSG_BATCH.BEGIN) {
        answer(namespace, message, replies, intercept);
        continue;
      }
      const end = messages.findIndex(({ header }, index) => index > at && header.type === NFNL_MSG_BATCH.END);
      // Without an end, the kernel takes no notice.
      if (end === -1) return;
      commit(namespace, messages.slice(at, end), replies, intercept);
      at = end;
    }
  };
}

/** Carries the messages of a batch out. Each that is refused is told of; if one is, nothing was done. */
function commit(
  namespace: Namespace,
  [begin, ...messages]: readonly Framed[],
  replies: ReplyQueue,
  intercept: Interceptor,
): void {
  if (begin === undefined) return;
  try {
    checkGeneration(namespace, begin);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    replies.acknowledge(begin, error);
    return;
  }
  let { transaction, refusals } = attempt(namespace, messages, intercept, false);
  if (refusals.size === 0 && !isReachable(transaction)) {
    ({ transaction, refusals } = attempt(namespace, messages, () => undefined, true));
  }
  for (const message of messages) {
    const refusal = refusals.get(message);
    if (refusal !== undefined) replies.acknowledge(message, refusal);
    else if ((message.header.flags & NLM_F.ACK) !== 0) replies.acknowledge(message);
  }
  if (refusals.size > 0) return;
  const before = namespace.ruleset;
  namespace.ruleset = transaction.commit(before);
  if (namespace.ruleset === before) return;
  for (const told of [...transaction.told, describeGeneration(namespace.ruleset)]) {
    namespace.notifier.publish('nft', told);
  }
}

function attempt(
  namespace: Namespace,
  messages: readonly Framed[],
  intercept: Interceptor,
  isStrict: boolean,
): { transaction: Transaction; refusals: ReadonlyMap<Framed, Refusal> } {
  const transaction = new Transaction(namespace.ruleset, isStrict);
  const refusals = new Map<Framed, Refusal>();
  for (const message of messages) {
    try {
      const { header, body } = message;
      const request = { flags: header.flags, body };
      intercept(requestName(header.type), request);
      const change = header.type >>> 8 === NFNL_SUBSYS.NFTABLES ? CHANGES.get(header.type & 0xff) : undefined;
      if (change === undefined) refuse('EINVAL');
      change(transaction, request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusals.set(message, error);
    }
  }
  return { transaction, refusals };
}

/** Whether all rules that packets come to may be where they are. */
function isReachable(transaction: Transaction): boolean {
  try {
    for (const table of transaction.touched()) checkReachable(table);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

function checkGeneration({ ruleset }: Namespace, { body }: Framed): void {
  const { resource, attributes } = decode(batchBegin, body);
  if (resource !== NFNL_SUBSYS.NFTABLES)
    refuse('EOPNOTSUPP', 'the fake kernel has batches of nf_tables only');
  if (attributes.generation !== undefined && attributes.generation !== ruleset.generation) refuse('ERESTART');
}

/** A question, or a change to what is not changed in batches. */
function answer(namespace: Namespace, message: Framed, replies: ReplyQueue, intercept: Interceptor): void {
  const { header, body } = message;
  const isDump = (header.flags & NLM_F.DUMP) === NLM_F.DUMP;
  const request = { flags: header.flags, body };
  try {
    intercept(requestName(header.type), request);
    for (const reply of repliesTo(namespace, header.type, request, isDump)) {
      replies.answer(message, isDump ? { ...reply, flags: reply.flags | NLM_F.MULTI } : reply);
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    replies.acknowledge(message, error);
    return;
  }
  if (isDump) replies.done(message);
  else if ((header.flags & NLM_F.ACK) !== 0) replies.acknowledge(message);
}

function repliesTo(
  namespace: Namespace,
  type: number,
  request: { readonly flags: number; readonly body: Uint8Array },
  isDump: boolean,
): readonly Reply[] {
  const kind = type & 0xff;
  switch (type >>> 8) {
    case NFNL_SUBSYS.NFTABLES: {
      const query = isDump ? LISTINGS.get(kind) : QUERIES.get(kind);
      if (query !== undefined) return query(namespace.ruleset, request);
      return refuse(CHANGES.has(kind) ? 'EINVAL' : 'EOPNOTSUPP');
    }
    case NFNL_SUBSYS.CTNETLINK: {
      const handler = flowHandlers(isDump).get(kind);
      return handler === undefined ? refuse('EOPNOTSUPP') : (handler(namespace, request) ?? []);
    }
    default:
      return refuse('EOPNOTSUPP');
  }
}

const NAMES: ReadonlyMap<number, string> = new Map([
  ...Object.entries(NFT_MSG).map(
    ([name, kind]) => [(NFNL_SUBSYS.NFTABLES << 8) | kind, `NFT_MSG_${name}`] as const,
  ),
  ...Object.entries(IPCTNL_MSG).map(
    ([name, kind]) => [(NFNL_SUBSYS.CTNETLINK << 8) | kind, `IPCTNL_MSG_CT_${name}`] as const,
  ),
]);

function requestName(type: number): string {
  return NAMES.get(type) ?? `NFNL_${type}`;
}

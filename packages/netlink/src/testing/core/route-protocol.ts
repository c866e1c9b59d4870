/** NETLINK_ROUTE: each message is carried out and acknowledged by itself. */
import { NLM_F } from '../../core/header.ts';
import type { Framed } from '../../core/message.ts';
import { RTM } from '../../core/rtm.ts';
import { addressHandlers } from '../address/requests.ts';
import { linkHandlers } from '../link/requests.ts';
import { watchLinks } from '../link/watch.ts';
import { neighbourHandlers } from '../neighbour/requests.ts';
import { routeHandlers } from '../route/requests.ts';
import { ruleHandlers } from '../rule/requests.ts';
import { trafficHandlers } from '../tc/requests.ts';
import type { HandlerTable, Request } from './handler.ts';
import type { Namespace } from './namespace.ts';
import { Refusal, refuse } from './refusal.ts';
import type { ReplyQueue } from './reply-queue.ts';
import type { Protocol } from './transport.ts';

/** Has something to say about every message before it is carried out: it may throw a {@link Refusal}. */
export type Interceptor = (name: string, request: Request) => void;

/** The protocol as spoken to one namespace. */
export function routeProtocol(namespace: Namespace, intercept: Interceptor): Protocol {
  return (messages, replies) => {
    for (const message of messages) carryOut(namespace, message, replies, intercept);
  };
}

function carryOut(namespace: Namespace, message: Framed, replies: ReplyQueue, intercept: Interceptor): void {
  const { header, body } = message;
  const request = { flags: header.flags, body };
  const isDump = (header.type & 3) === GET && (header.flags & NLM_F.DUMP) === NLM_F.DUMP;
  try {
    intercept(requestName(header.type), request);
    const handlers = HANDLERS.get(header.type);
    const handler = isDump ? handlers?.dump : (handlers?.change ?? handlers?.get);
    if (handler === undefined) refuse('EOPNOTSUPP');
    const answers = handler(namespace, request) ?? [];
    if ((header.type & 3) !== GET) watchLinks(namespace.machine);
    for (const answer of answers) {
      replies.answer(message, isDump ? { ...answer, flags: answer.flags | NLM_F.MULTI } : answer);
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // What was done before the refusal stays, and has its consequences.
    if ((header.type & 3) !== GET) watchLinks(namespace.machine);
    replies.acknowledge(message, error);
    return;
  }
  if (isDump) replies.done(message);
  else if ((header.flags & NLM_F.ACK) !== 0) replies.acknowledge(message);
}

/** RTM_*: by convention, the low two bits say what a message does. */
const GET = 2;

const HANDLERS: HandlerTable = new Map([
  ...linkHandlers,
  ...addressHandlers,
  ...routeHandlers,
  ...ruleHandlers,
  ...neighbourHandlers,
  ...trafficHandlers,
]);

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(RTM).map(([name, type]) => [type, `RTM_${name}`]),
);

function requestName(type: number): string {
  return NAMES.get(type) ?? `RTM_${type}`;
}

/** The messages that a client sends, by the state it is in — RFC 2131 §4.3.2, §4.4.1, table 5. */
import { Addr } from '@heddle/netaddr';
import type { DhcpMessageInput } from '../message/message.ts';
import type { Lease } from './lease.ts';
import type { Client } from './ports.ts';

/** What a request begins with: the same number in every repetition, and how long it has taken so far. */
export interface Attempt {
  readonly xid: number;
  /** Milliseconds since the client began. */
  readonly elapsed: number;
}

/** Every host on the link. */
export const EVERYBODY = Addr.parse('255.255.255.255');

/** "Who has an address for me?", if possible this one. */
export function discover(client: Client, attempt: Attempt, wish?: Addr): DhcpMessageInput {
  return question(client, attempt, { messageType: 'discover', requestedAddress: wish });
}

/** "I take that one of yours." */
export function select(client: Client, attempt: Attempt, address: Addr, server: Addr): DhcpMessageInput {
  return question(client, attempt, {
    messageType: 'request',
    requestedAddress: address,
    serverId: server,
  });
}

/** "I would like to keep mine." It carries neither the server's identity nor a requested address. */
export function extendLease(client: Client, attempt: Attempt, lease: Lease): DhcpMessageInput {
  const message = question(client, attempt, { messageType: 'request' });
  // The address works, so answers need not be broadcast.
  return { ...message, ciaddr: lease.prefix.addr, broadcast: false };
}

/** "Somebody else has that address." */
export function decline(client: Client, attempt: Attempt, lease: Lease, reason: string): DhcpMessageInput {
  return statement(client, attempt, {
    messageType: 'decline',
    requestedAddress: lease.prefix.addr,
    serverId: lease.server,
    message: reason,
  });
}

/** "I do not need it any more." */
export function giveBack(client: Client, attempt: Attempt, address: Addr, server: Addr): DhcpMessageInput {
  return { ...statement(client, attempt, { messageType: 'release', serverId: server }), ciaddr: address };
}

/** The largest message that is taken: what fits into a frame. */
const MAX_MESSAGE = 1500;
/** What a user's own option of that number takes the place of. */
const REPLACED = { clientId: 61, maxMessageSize: 57, parameters: 55 } as const;

type Options = DhcpMessageInput['options'];

function question(client: Client, attempt: Attempt, options: Options): DhcpMessageInput {
  const { parameters, provide, broadcast } = client.identity;
  const wanted = {
    maxMessageSize: MAX_MESSAGE,
    ...(parameters.length > 0 && { parameters: Uint8Array.from(parameters) }),
  };
  const message = statement(client, attempt, { ...wanted, ...options });
  return {
    ...message,
    broadcast: broadcast || client.link.needsBroadcast,
    options: { ...message.options, ...without(provide, wanted), unknown: provide },
  };
}

/** A message that asks for nothing: it identifies the client and says no more of it. */
function statement({ link, identity }: Client, { xid, elapsed }: Attempt, options: Options) {
  const { clientId, provide } = identity;
  const own = provide.filter(({ code }) => code === REPLACED.clientId);
  return {
    op: 'request',
    xid,
    secs: Math.min(0xffff, Math.floor(elapsed / 1000)),
    hardwareAddress: link.hardwareAddress.toBytes(),
    options: { clientId, ...options, ...without(own, { clientId }), unknown: own },
  } as const satisfies DhcpMessageInput;
}

/** The options of ours that the user has others for, taken out. */
function without(provide: Client['identity']['provide'], options: Options): Options {
  const codes = new Set(provide.map(({ code }) => code));
  const replaced = Object.entries(REPLACED).filter(([key, code]) => key in options && codes.has(code));
  return Object.fromEntries(replaced.map(([key]) => [key, undefined]));
}

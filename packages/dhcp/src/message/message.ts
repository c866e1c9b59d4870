/**
 * DHCP messages: the fields that come from BOOTP, a magic number, and options — RFC 2131 §2, RFC 2132.
 */
import type { Addr } from '@heddle/netaddr';
import {
  addr4,
  bytes,
  type Codec,
  oneOf,
  repeated,
  rest,
  struct,
  u8,
  u16be,
  u32be,
  WireError,
} from '@heddle/wire';
import { type OptionsInput, type OptionsValue, option, optionSet } from './option-set.ts';
import { classfulRoutes, classlessRoutes, domainList, domainName, text } from './values.ts';

/** The options that this client reads or writes, in the order in which they are written. */
const options = optionSet({
  messageType: option(
    53,
    oneOf(u8, { discover: 1, offer: 2, request: 3, decline: 4, ack: 5, nak: 6, release: 7, inform: 8 }),
  ),
  clientId: option(61, rest),
  requestedAddress: option(50, addr4),
  serverId: option(54, addr4),
  maxMessageSize: option(57, u16be),
  /** The codes of the options that the client would like to get. */
  parameters: option(55, rest),
  subnetMask: option(1, addr4),
  routers: option(3, repeated(addr4)),
  nameServers: option(6, repeated(addr4)),
  domainName: option(15, domainName),
  staticRoutes: option(33, classfulRoutes),
  /** Seconds. */
  leaseTime: option(51, u32be),
  overload: option(52, u8),
  /** What a server says with a refusal, or a client with a decline. */
  message: option(56, text),
  /** Seconds. */
  renewalTime: option(58, u32be),
  /** Seconds. */
  rebindingTime: option(59, u32be),
  domainSearch: option(119, domainList),
  classlessRoutes: option(121, classlessRoutes),
});

type Fields = typeof options extends { read(areas: readonly Uint8Array[]): OptionsValue<infer F> }
  ? F
  : never;
/** The options of a message that was received. */
export type MessageOptions = OptionsValue<Fields>;

/** A message that was received. */
export interface DhcpMessage {
  readonly op: 'request' | 'reply' | number;
  /** The number that an answer repeats. */
  readonly xid: number;
  /** Seconds since the client began to ask. */
  readonly secs: number;
  /** Whether answers are to be broadcast. */
  readonly broadcast: boolean;
  /** The client's address, when it has one and answers on it. */
  readonly ciaddr: Addr;
  /** The address that the client gets. */
  readonly yiaddr: Addr;
  readonly siaddr: Addr;
  /** The relay in between. */
  readonly giaddr: Addr;
  /** The client's hardware address, as long as it says. */
  readonly hardwareAddress: Uint8Array;
  readonly options: MessageOptions;
}

/** A message to be sent; what is left out is zero. */
export interface DhcpMessageInput extends Partial<Omit<DhcpMessage, 'op' | 'options'>> {
  readonly op: 'request' | 'reply';
  readonly options: OptionsInput<Fields>;
}

/** The UDP ports (RFC 2131 §4.1). */
export const SERVER_PORT = 67;
/** See {@link SERVER_PORT}. */
export const CLIENT_PORT = 68;

/** The format of a message. Written, it is as long as the shortest BOOTP message at least; some relays insist. */
export const dhcpMessage: Codec<DhcpMessage, DhcpMessageInput> = {
  name: 'DHCP message',
  size: undefined,
  read(window, start, end) {
    const head = header.read(window, start, end);
    if (head.cookie !== COOKIE) throw new WireError('DHCP message', start, 'has no magic number of DHCP');
    const { op, xid, secs, flags, ciaddr, yiaddr, siaddr, giaddr, chaddr, hardwareLength } = head;
    const own = window.bytes.subarray(start + HEADER_SIZE, end);
    // Whether `file` and `sname` hold options too is said in the options themselves (RFC 2131 §4.1).
    const overload = options.read([own]).overload ?? 0;
    const areas = [own, ...(overload & 1 ? [head.file] : []), ...(overload & 2 ? [head.sname] : [])];
    return {
      op,
      xid,
      secs,
      broadcast: (flags & BROADCAST) !== 0,
      ...{ ciaddr, yiaddr, siaddr, giaddr },
      hardwareAddress: chaddr.slice(0, hardwareLength),
      options: options.read(areas),
    };
  },
  write(writer, { hardwareAddress = new Uint8Array(0), broadcast = false, options: given, ...fields }) {
    const from = writer.length;
    header.write(writer, {
      ...fields,
      hardwareType: ETHERNET,
      hardwareLength: hardwareAddress.length,
      flags: broadcast ? BROADCAST : 0,
      chaddr: hardwareAddress,
      cookie: COOKIE,
    });
    writer.append(options.write(given));
    writer.reserve(Math.max(0, SHORTEST - (writer.length - from)));
  },
};

/** RFC 2131 §2, figure 1 */
const header = struct('DHCP message', {
  op: oneOf(u8, { request: 1, reply: 2 }),
  hardwareType: u8,
  hardwareLength: u8,
  hops: u8,
  xid: u32be,
  secs: u16be,
  flags: u16be,
  ciaddr: addr4,
  yiaddr: addr4,
  siaddr: addr4,
  giaddr: addr4,
  chaddr: bytes(16),
  sname: bytes(64),
  file: bytes(128),
  cookie: u32be,
});

const HEADER_SIZE = 240;
const COOKIE = 0x63825363;
const BROADCAST = 0x8000;
/** `htype` 1 */
const ETHERNET = 1;
/** RFC 951 §3: the size of a BOOTP message. */
const SHORTEST = 300;

/** What the client stands on: time, chance, and an interface. Tests have a simulated network behind the same. */
import type { Addr, Mac } from '@heddle/netaddr';
import type { DhcpMessage, DhcpMessageInput } from '../message/message.ts';
import type { RawOption } from '../message/option-set.ts';

/** Time as leases need it: it never goes back, and goes on while the machine sleeps. */
export interface Clock {
  /** Milliseconds since some moment that stays the same, such as the machine's start. */
  now(): number;
  /** Resolves after so many milliseconds. @throws the signal's reason, as soon as it is aborted */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** A source of numbers from 0 up to, but not including, 1. */
export type Random = () => number;

/** Where a message goes. */
export interface Destination {
  /** The sender's address in IP's header. */
  readonly from: Addr;
  readonly to: Addr;
  /** The neighbour that gets the frame; everybody on the link when left out. */
  readonly mac?: Mac | undefined;
}

/** A message that came in. */
export interface Received {
  readonly message: DhcpMessage;
  /** The neighbour that it came from, where that can be told: the server, or the router in between. */
  readonly mac?: Mac;
}

/** An open way to the servers. It keeps the interface's namespace alive: close it as soon as possible. */
export interface Channel extends Disposable {
  send(message: DhcpMessageInput, destination: Destination): void;
  /** The next message for a client, whoever's it is; `undefined` when none has come by the deadline. */
  receive(deadline: number, signal: AbortSignal): Promise<Received | undefined>;
}

/** A way that also works for an interface without an address. */
export interface LinkChannel extends Channel {
  /** Who else on the link has, or wants, the address; `undefined` when nobody says so for so many milliseconds. */
  probe(address: Addr, milliseconds: number, signal: AbortSignal): Promise<Mac | undefined>;
}

/**
 * The interface that a lease is for. Nothing of it is open between calls.
 *
 * Every call throws {@link DhcpError} DHCP_INTERFACE_GONE when the interface, or its namespace, is not there any
 * more, or is another one of the same name.
 */
export interface NetworkInterface {
  readonly hardwareAddress: Mac;
  /** Whether servers must broadcast their answers, because frames for an unknown address do not get here. */
  readonly needsBroadcast: boolean;
  /** Opens a way past the host's own IP. */
  openLink(): Promise<LinkChannel>;
  /** Opens a way through the host's own IP, from an address that it has. */
  openAddress(address: Addr): Promise<Channel>;
  /** Checks that it is still there. */
  check(): Promise<void>;
  /** Lets traffic through. */
  setUp(): Promise<void>;
  /** Stops all traffic. */
  setDown(): Promise<void>;
}

/** How patient the client is; all in milliseconds. */
export interface Timing {
  /** How long the first answer is waited for before the message is sent again; each further wait is twice as long. */
  readonly timeout: number;
  /** The longest such wait. */
  readonly resendMax: number;
  /** How long getting a lease may take in all. */
  readonly resendTimeout: number;
  /** How long the link is listened to for somebody who has the offered address already; 0 for not at all. */
  readonly probe: number;
}

/** One client: an interface that wants an address, and how it asks. */
export interface Client {
  readonly link: NetworkInterface;
  readonly identity: Identity;
  readonly timing: Timing;
  readonly clock: Clock;
  readonly random: Random;
  /** Hears of everything that an operator may want to know. */
  readonly log: (message: string) => void;
}

/** What the client says of itself. */
export interface Identity {
  /** Option 61, its type byte included. */
  readonly clientId: Uint8Array;
  /** Further options, sent in every request. They take the place of the client's own of the same code. */
  readonly provide: readonly RawOption[];
  /** Option 55: what it would like to know. Not sent when empty. */
  readonly parameters: readonly number[];
  /** Whether servers are asked to broadcast their answers. */
  readonly broadcast: boolean;
}

/** A link in memory, with servers on it: messages really are encoded and decoded. */
import { type Addr, Mac } from '@heddle/netaddr';
import { decode, encode } from '@heddle/wire';
import { Inbox } from '../client/inbox.ts';
import type {
  Channel,
  Client,
  Clock,
  Destination,
  Identity,
  LinkChannel,
  NetworkInterface,
  Received,
  Timing,
} from '../client/ports.ts';
import { DhcpError } from '../dhcp-error.ts';
import { type DhcpMessage, type DhcpMessageInput, dhcpMessage } from '../message/message.ts';
import type { SimulatedServer } from './simulated-server.ts';

/** One message as it was sent. */
export interface Sent extends Destination {
  readonly message: DhcpMessage;
  readonly at: number;
  /** Whether it went through the host's own IP. */
  readonly direct: boolean;
}

/** See the file's comment. */
export class SimulatedLink implements NetworkInterface {
  readonly hardwareAddress = Mac.parse('02:00:00:00:00:01');
  readonly needsBroadcast = false;
  readonly servers: readonly SimulatedServer[];
  /** Everything that was sent. */
  readonly sent: Sent[] = [];
  /** Who has addresses that no server knows of. */
  readonly squatters = new Map<string, Mac>();
  /** How many channels are open. */
  open = 0;
  isUp = false;
  /** The interface was deleted. */
  isGone = false;
  /** What opening a way through the host's IP throws. */
  refusal: Error | undefined;
  /** Whether a message, or its answer, gets lost. */
  loses: (sent: Sent) => boolean = () => false;
  readonly #clock: Clock;

  constructor(clock: Clock, servers: readonly SimulatedServer[]) {
    this.#clock = clock;
    this.servers = servers;
  }

  async openLink(): Promise<LinkChannel> {
    const channel = this.#channel(false);
    const probe = async (address: Addr, milliseconds: number, signal: AbortSignal) => {
      await this.#clock.sleep(milliseconds, signal);
      return this.squatters.get(`${address}`);
    };
    return { ...channel, probe };
  }

  async openAddress(): Promise<Channel> {
    if (this.refusal !== undefined) throw this.refusal;
    return this.#channel(true);
  }

  async check(): Promise<void> {
    if (this.isGone) throw new DhcpError('DHCP_INTERFACE_GONE', 'the interface is gone');
  }

  async setUp(): Promise<void> {
    await this.check();
    this.isUp = true;
  }

  async setDown(): Promise<void> {
    await this.check();
    this.isUp = false;
  }

  /** Gives a message to whoever listens, as if a stranger had sent it. */
  inject: (message: DhcpMessageInput) => void = () => {};

  #channel(direct: boolean): Channel {
    if (this.isGone) throw new DhcpError('DHCP_INTERFACE_GONE', 'the interface is gone');
    const inbox = new Inbox<Received>();
    const clock = this.#clock;
    const deliver = (message: DhcpMessageInput) =>
      inbox.push({ message: decode(dhcpMessage, encode(dhcpMessage, message)) });
    this.open += 1;
    this.inject = deliver;
    return {
      send: (input, destination) => {
        const message = decode(dhcpMessage, encode(dhcpMessage, input));
        const sent = { message, ...destination, at: clock.now(), direct };
        this.sent.push(sent);
        if (this.loses(sent)) return;
        for (const server of this.servers) {
          const answer = server.answer(message, destination.to, clock.now());
          if (answer !== undefined) deliver(answer);
        }
      },
      receive: (deadline, signal) => inbox.next(clock, deadline, signal),
      [Symbol.dispose]: () => {
        this.open -= 1;
      },
    };
  }
}

/** A client on a link. */
export function simulatedClient(
  link: SimulatedLink,
  clock: Clock,
  more: {
    readonly timing?: Partial<Timing>;
    readonly identity?: Partial<Identity>;
    readonly id?: string;
  } = {},
): Client & { readonly lines: string[] } {
  const lines: string[] = [];
  let n = 0;
  return {
    link,
    clock,
    lines,
    identity: {
      clientId: Buffer.from(`\0${more.id ?? 'c1/net1/eth0'}`),
      provide: [],
      parameters: [1, 3],
      broadcast: false,
      ...more.identity,
    },
    timing: { timeout: 4000, resendMax: 62_000, resendTimeout: 208_000, probe: 200, ...more.timing },
    // Neither the same each time, nor by chance.
    random: () => ((n++ * 2_654_435_761) % 2 ** 32) / 2 ** 32,
    log: (message) => lines.push(message),
  };
}

/** A DHCP server for tests: a pool, leases by client, and some ways to misbehave. */
import { Addr, Prefix } from '@heddle/netaddr';
import type { DhcpMessage, DhcpMessageInput } from '../message/message.ts';

/** What a server does unless it is changed. */
export interface ServerSettings {
  readonly address: string;
  readonly pool: readonly string[];
  /** Seconds. */
  readonly leaseTime: number;
  readonly options: DhcpMessageInput['options'];
}

/** See the file's comment. */
export class SimulatedServer {
  readonly address: Addr;
  readonly settings: ServerSettings;
  /** Who has what until when, in milliseconds. */
  readonly leases = new Map<string, { readonly address: Addr; readonly until: number }>();
  readonly declined = new Set<string>();
  /** What it offered last, by client: nobody else is offered that. */
  readonly #offers = new Map<string, Addr>();
  /** The types of the messages that it got, in order. */
  readonly seen: string[] = [];
  /** Whether it is there. */
  isUp = true;
  /** Refuses every request, without forgetting anything. */
  refuses = false;

  constructor(settings: Partial<ServerSettings> = {}) {
    this.settings = {
      address: '192.0.2.1',
      pool: ['192.0.2.10', '192.0.2.11', '192.0.2.12'],
      leaseTime: 600,
      options: { subnetMask: Addr.parse('255.255.255.0'), routers: [Addr.parse('192.0.2.1')] },
      ...settings,
    };
    this.address = Addr.parse(this.settings.address);
  }

  /** What it answers to a message that was sent to an address. */
  answer(message: DhcpMessage, to: Addr, now: number): DhcpMessageInput | undefined {
    const forUs = to.equals(this.address) || to.toString() === '255.255.255.255';
    if (!this.isUp || !forUs) return undefined;
    const { messageType, serverId, clientId, requestedAddress } = message.options;
    this.seen.push(String(messageType));
    if (serverId !== undefined && !serverId.equals(this.address)) return undefined;
    const client = Buffer.from(clientId ?? message.hardwareAddress).toString('latin1');
    switch (messageType) {
      case 'discover': {
        const address = this.#choose(client, requestedAddress, now);
        if (address === undefined) return undefined;
        this.#offers.set(client, address);
        return this.#reply(message, 'offer', address);
      }
      case 'request':
        return this.#request(message, client, now);
      case 'release':
        this.#offers.delete(client);
        if (this.leases.get(client)?.address.equals(message.ciaddr)) this.leases.delete(client);
        return undefined;
      case 'decline':
        this.leases.delete(client);
        this.#offers.delete(client);
        if (requestedAddress !== undefined) this.declined.add(`${requestedAddress}`);
        return undefined;
      default:
        return undefined;
    }
  }

  #request(message: DhcpMessage, client: string, now: number): DhcpMessageInput | undefined {
    const { ciaddr, options } = message;
    const wanted = options.requestedAddress ?? ciaddr;
    const isFree = this.#choose(client, wanted, now)?.equals(wanted) === true;
    if (this.refuses || !isFree) return this.#reply(message, 'nak', Addr.ZERO4);
    this.#offers.delete(client);
    this.leases.set(client, { address: wanted, until: now + this.settings.leaseTime * 1000 });
    return this.#reply(message, 'ack', wanted);
  }

  /** The client's own address, else the one that it wishes, else the first that is free. */
  #choose(client: string, wish: Addr | undefined, now: number): Addr | undefined {
    const leases = [...this.leases].filter(([, { until }]) => until > now);
    const others = [...leases.map(([who, { address }]) => [who, address] as const), ...this.#offers];
    const taken = new Set(others.filter(([who]) => who !== client).map(([, address]) => `${address}`));
    const free = this.settings.pool.filter((text) => !taken.has(text) && !this.declined.has(text));
    const own = this.leases.get(client)?.address;
    const found = [own, wish].find((each) => each !== undefined && free.includes(`${each}`));
    return found ?? (free[0] === undefined ? undefined : Addr.parse(free[0]));
  }

  #reply(
    { xid, hardwareAddress }: DhcpMessage,
    messageType: 'offer' | 'ack' | 'nak',
    yiaddr: Addr,
  ): DhcpMessageInput {
    const { leaseTime, options } = this.settings;
    const said = messageType === 'nak' ? {} : { leaseTime, ...options };
    return {
      ...{ op: 'reply', xid, hardwareAddress, yiaddr },
      options: { messageType, serverId: this.address, ...said },
    };
  }
}

/** The prefix of an address that simulated servers give out. */
export function leased(text: string): Prefix {
  return Prefix.parse(`${text}/24`);
}

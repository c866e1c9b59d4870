/** Asking for more time: first the lease's own server, later any — RFC 2131 §4.4.5. */
import type { Addr } from '@heddle/netaddr';
import { SysError } from '@heddle/sys';
import { exchange } from './exchange.ts';
import { type Lease, leaseOf } from './lease.ts';
import type { Channel, Client, Destination, Received } from './ports.ts';
import { EVERYBODY, extendLease } from './requests.ts';
import { halvingWaits } from './waits.ts';

/** What came of it: the lease with its new times, a server's refusal, or no answer in time. */
export type Extension = Lease | 'refused' | undefined;

/** Asks the server that gave the lease, until it is time to ask others. */
export async function renew(client: Client, lease: Lease, signal: AbortSignal): Promise<Extension> {
  const way = { from: lease.prefix.addr, to: lease.server, deadline: lease.rebindAt, signal };
  try {
    using channel = await client.link.openAddress(lease.prefix.addr);
    return await ask(client, lease, { channel, ...way });
  } catch (error) {
    if (!SysError.is(error)) throw error;
    client.log(`cannot ask ${lease.server} over the host's own IP: ${error.message}`);
  }
  // The address was moved away, its port is taken, or there is no route: to the neighbour known to lead there.
  using channel = await client.link.openLink();
  return await ask(client, lease, { channel, ...way, mac: lease.serverMac });
}

/** Asks every server that hears it, until the lease ends. */
export async function rebind(client: Client, lease: Lease, signal: AbortSignal): Promise<Extension> {
  using channel = await client.link.openLink();
  const from = lease.prefix.addr;
  return await ask(client, lease, { channel, from, to: EVERYBODY, deadline: lease.expiresAt, signal });
}

interface Way extends Destination {
  readonly channel: Channel;
  readonly deadline: number;
  readonly signal: AbortSignal;
}

function ask(client: Client, lease: Lease, way: Way): Promise<Extension> {
  const { channel, deadline, signal, ...destination } = way;
  return exchange<Lease | 'refused'>(client, {
    ...{ channel, destination, deadline, signal },
    ask: (attempt) => extendLease(client, attempt, lease),
    judge: (received, since) => judge(received, since, lease),
    waits: halvingWaits(() => client.clock.now(), deadline),
  });
}

function judge(received: Received, since: number, lease: Lease): Lease | 'refused' | undefined {
  const { options, yiaddr } = received.message;
  if (options.messageType === 'nak') return 'refused';
  if (options.messageType !== 'ack' || !isSame(yiaddr, lease)) return undefined;
  return leaseOf(received, { since, server: lease.server, previous: lease });
}

function isSame(address: Addr, lease: Lease): boolean {
  return address.equals(lease.prefix.addr);
}

/** Asking for more time: first the lease's own server, later any — RFC 2131 §4.4.5. */
import type { Addr } from '@heddle/netaddr';
import { SysError } from '@heddle/sys';
import { exchange } from './exchange.ts';
import { type Lease, leaseOf } from './lease.ts';
import type { Channel, Client, Destination, Received } from './ports.ts';
import { EVERYBODY, extendLease } from './requests.ts';
import { doublingWaits, halvingWaits } from './waits.ts';

/** What came of it: the lease with its new times, a server's refusal, or no answer in time. */
export type Extension = Lease | 'refused' | undefined;

/** Asks the server that gave the lease, until it is time to ask others. */
export async function renew(client: Client, lease: Lease, signal: AbortSignal): Promise<Extension> {
  const { link } = client;
  const way = { from: lease.prefix.addr, to: lease.server, deadline: lease.rebindAt, signal };
  try {
    return await ask(client, lease, { open: () => link.openAddress(lease.prefix.addr), ...way });
  } catch (error) {
    if (!SysError.is(error)) throw error;
    client.log(`cannot ask ${lease.server} over the host's own IP: ${error.message}`);
  }
  // The address was moved away, its port is taken, or there is no route: to the neighbour known to lead there.
  return await ask(client, lease, { open: () => link.openLink(), ...way, mac: lease.serverMac });
}

/** Asks every server that hears it, until the lease ends. */
export function rebind(client: Client, lease: Lease, signal: AbortSignal): Promise<Extension> {
  const open = () => client.link.openLink();
  return ask(client, lease, {
    ...{ open, from: lease.prefix.addr, to: EVERYBODY, deadline: lease.expiresAt, signal },
  });
}

interface Way extends Destination {
  readonly open: () => Promise<Channel>;
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/**
 * Hours may lie between two tries. An open channel would keep the namespace of a container that is gone for so long,
 * so each try has one of its own, and finds out whether the interface is still there. Within a try a message that was
 * lost is sent again after seconds: many clients renew at once when their daemon was away, and a server drops some.
 */
async function ask(client: Client, lease: Lease, way: Way): Promise<Extension> {
  const { clock } = client;
  const { open, deadline, signal, ...destination } = way;
  const began = clock.now();
  for (const wait of halvingWaits(() => clock.now(), deadline)) {
    const until = Math.min(clock.now() + wait, deadline);
    if (clock.now() >= until) return undefined;
    {
      using channel = await open();
      const answer = await exchange<Lease | 'refused'>(client, {
        ...{ channel, destination, began, signal },
        ask: (attempt) => extendLease(client, attempt, lease),
        judge: (received, since) => judge(received, since, lease),
        waits: doublingWaits(client.timing, client.random),
        deadline: Math.min(clock.now() + LONGEST_LISTENING, until),
      });
      if (answer !== undefined) return answer;
    }
    await clock.sleep(until - clock.now(), signal);
  }
  return undefined;
}

/** Milliseconds. */
const LONGEST_LISTENING = 30_000;

function judge(received: Received, since: number, lease: Lease): Lease | 'refused' | undefined {
  const { options, yiaddr } = received.message;
  if (options.messageType === 'nak') return 'refused';
  if (options.messageType !== 'ack' || !isSame(yiaddr, lease)) return undefined;
  return leaseOf(received, { since, server: lease.server, previous: lease });
}

function isSame(address: Addr, lease: Lease): boolean {
  return address.equals(lease.prefix.addr);
}

/** Getting a lease: discover, offer, request, acknowledgement; then a look whether the address is free. */
import { Addr, type Mac } from '@heddle/netaddr';
import { DhcpError } from '../dhcp-error.ts';
import { exchange } from './exchange.ts';
import { type Lease, leaseOf } from './lease.ts';
import type { Client, LinkChannel, Received } from './ports.ts';
import { throwBack } from './release.ts';
import { decline, discover, EVERYBODY, select } from './requests.ts';
import { doublingWaits } from './waits.ts';

/** What may be said about the lease that is wanted. */
export interface AcquireOptions {
  /** An address that the client would like. */
  readonly wish?: Addr;
  /** The address is the interface's own already: whoever answers for it is the interface itself. */
  readonly inUse?: boolean;
  readonly signal: AbortSignal;
}

/**
 * Gets a lease. Declines an address that somebody on the link has already, and asks for another.
 *
 * @throws {DhcpError} DHCP_NO_ANSWER "no more tries" when there is none in the time allowed; DHCP_BAD_ANSWER for
 *   a lease that cannot be used; DHCP_INTERFACE_GONE
 */
export async function acquire(client: Client, options: AcquireOptions): Promise<Lease> {
  const { clock, timing, log } = client;
  const { wish, inUse = false, signal } = options;
  const began = clock.now();
  const deadline = began + timing.resendTimeout;
  await client.link.setUp();
  using channel = await client.link.openLink();
  for (let conflicts = 0; clock.now() < deadline; ) {
    const lease = await askOnce(client, { channel, began, deadline, wish, signal });
    if (lease === undefined) continue;
    const address = lease.prefix.addr;
    if (timing.probe === 0 || (inUse && wish?.equals(address))) return lease;
    const holder = await holderOf(client, channel, lease, signal);
    if (holder === undefined) return lease;
    conflicts += 1;
    log(`${address}, which ${lease.server} leased, is in use by ${holder}: declined`);
    const attempt = { xid: Math.floor(client.random() * 2 ** 32), elapsed: clock.now() - began };
    const reason = `in use by ${holder}`;
    channel.send(decline(client, attempt, lease, reason), { from: Addr.ZERO4, to: EVERYBODY });
    // A server that keeps offering the same must not be asked in a tight loop (RFC 2131 §3.1).
    if (conflicts > 1) await clock.sleep(AFTER_CONFLICT, signal);
  }
  throw new DhcpError('DHCP_NO_ANSWER', 'no more tries');
}

/** Who has the leased address already. Whoever loses patience meanwhile has no use for the lease. */
async function holderOf(
  client: Client,
  channel: LinkChannel,
  { prefix, server, serverMac }: Lease,
  signal: AbortSignal,
): Promise<Mac | undefined> {
  try {
    return await channel.probe(prefix.addr, client.timing.probe, signal);
  } catch (error) {
    throwBack(client, channel, { address: prefix.addr, server, mac: serverMac });
    throw error;
  }
}

const AFTER_CONFLICT = 10_000;
/** How often an offer is taken before it counts as withdrawn. */
const SELECT_TRIES = 3;
/** RFC 2131 gives no pause after a refused request; without one, two that disagree would never rest. */
const AFTER_REFUSAL = 1000;

interface Round {
  readonly channel: LinkChannel;
  readonly began: number;
  readonly deadline: number;
  readonly wish: Addr | undefined;
  readonly signal: AbortSignal;
}

/** One round; `undefined` when the server that made an offer did not keep it. */
async function askOnce(client: Client, round: Round): Promise<Lease | undefined> {
  const { timing, random, clock, log } = client;
  const { wish, ...about } = round;
  const destination = { from: Addr.ZERO4, to: EVERYBODY };
  const offer = await exchange(client, {
    ...about,
    destination,
    ask: (attempt) => discover(client, attempt, wish),
    judge: ({ message }) =>
      message.options.messageType === 'offer' && isOffer(message.yiaddr, message.options.serverId)
        ? { address: message.yiaddr, server: message.options.serverId as Addr }
        : undefined,
    waits: doublingWaits(timing, random),
  });
  if (offer === undefined) throw new DhcpError('DHCP_NO_ANSWER', 'no more tries');
  const { address, server } = offer;
  const answer = await exchange(client, {
    ...about,
    destination,
    ask: (attempt) => select(client, attempt, address, server),
    judge: (received, since) => {
      try {
        return judgeSelected(received, since, server);
      } catch (error) {
        throwBack(client, round.channel, { address, server, mac: received.mac });
        throw error;
      }
    },
    waits: doublingWaits(timing, random, SELECT_TRIES),
  });
  if (answer !== 'refused') return answer;
  log(`${server} refused the address ${address} that it had offered`);
  await clock.sleep(AFTER_REFUSAL, round.signal);
  return undefined;
}

function isOffer(address: Addr, server: Addr | undefined): server is Addr {
  return !address.isUnspecified && server !== undefined;
}

function judgeSelected(received: Received, since: number, server: Addr): Lease | 'refused' | undefined {
  const { options, yiaddr } = received.message;
  if (options.messageType === 'nak') return options.serverId?.equals(server) ? 'refused' : undefined;
  if (options.messageType !== 'ack' || yiaddr.isUnspecified) return undefined;
  return leaseOf(received, { since, server });
}

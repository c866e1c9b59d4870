/** Keeping a lease for as long as its interface exists: bound, renewing, rebinding — RFC 2131 §4.4, figure 5. */
import { HeddleError } from '@heddle/errors';
import { DhcpError } from '../dhcp-error.ts';
import { acquire } from './acquire.ts';
import { type Extension, rebind, renew } from './extend.ts';
import type { Lease } from './lease.ts';
import type { Client } from './ports.ts';
import { release } from './release.ts';

/** Where a lease stands. */
export type KeptState = 'bound' | 'renewing' | 'rebinding';
/** How keeping it ended: the interface is gone, the time is over, or the servers want another address used. */
export type LeaseEnd = 'gone' | 'expired' | 'refused';

/** Who follows what happens to a lease. */
export interface LeaseWatcher {
  /** Called at each change of the state; with a new lease when it was extended. */
  changed(state: KeptState, lease: Lease): void;
}

/**
 * Keeps a lease. When its time is over, or the servers insist on another address, the interface is set down: the
 * address must not be used any more, and nobody but the interface's owner can give it another one.
 *
 * @throws the signal's reason, when it is aborted; the lease is then as it was
 */
export async function keep(
  client: Client,
  kept: Lease,
  watcher: LeaseWatcher,
  signal: AbortSignal,
): Promise<LeaseEnd> {
  for (let lease = kept; ; ) {
    watcher.changed('bound', lease);
    await client.clock.sleep(renewalDelay(client, lease), signal);
    try {
      const extended = await extend(client, lease, watcher, signal);
      const next = extended === 'refused' ? await ensureSame(client, lease, signal) : extended;
      if (next === undefined)
        return await stop(client, lease, extended === 'refused' ? 'refused' : 'expired');
      lease = next;
    } catch (error) {
      if (DhcpError.is(error, 'DHCP_INTERFACE_GONE')) return 'gone';
      throw error;
    }
  }
}

/** Leases of the same second are not renewed in the same second. */
function renewalDelay({ clock, random }: Client, { renewAt }: Lease): number {
  const left = renewAt - clock.now();
  return Math.max(0, left - left * 0.05 * random());
}

async function extend(
  client: Client,
  lease: Lease,
  watcher: LeaseWatcher,
  signal: AbortSignal,
): Promise<Extension> {
  watcher.changed('renewing', lease);
  const renewed = await patiently(client, lease.rebindAt, signal, () => renew(client, lease, signal));
  if (renewed !== undefined) return renewed;
  client.log(`${lease.server} did not renew the lease of ${lease.prefix.addr}: asking all servers`);
  watcher.changed('rebinding', lease);
  return patiently(client, lease.expiresAt, signal, () => rebind(client, lease, signal));
}

/** Tries again until the deadline when the kernel refuses, as it does while an interface is down. */
async function patiently(
  { clock, log }: Client,
  deadline: number,
  signal: AbortSignal,
  run: () => Promise<Extension>,
): Promise<Extension> {
  for (let pause = 1000; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof HeddleError) || DhcpError.is(error, 'DHCP_INTERFACE_GONE')) throw error;
      if (clock.now() >= deadline) return undefined;
      log(error.message);
      await clock.sleep(Math.min(pause, deadline - clock.now()), signal);
    }
  }
}

const LONGEST_PAUSE = 10_000;

/**
 * After a refusal: a new lease, which is good only when it is of the same address. Another one is given back.
 */
async function ensureSame(client: Client, lease: Lease, signal: AbortSignal): Promise<Lease | undefined> {
  const { addr } = lease.prefix;
  client.log(`a server refused to extend the lease of ${addr}: asking for a new one`);
  try {
    const found = await acquire(client, { wish: addr, inUse: true, signal });
    if (found.prefix.equals(lease.prefix)) return found;
    client.log(
      `the servers want ${lease.prefix} to become ${found.prefix}, which only a new attachment can do`,
    );
    await release(client, found);
  } catch (error) {
    if (!(error instanceof HeddleError) || DhcpError.is(error, 'DHCP_INTERFACE_GONE')) throw error;
    client.log(`no new lease of ${addr}: ${error.message}`);
  }
  return undefined;
}

async function stop(client: Client, { prefix }: Lease, end: LeaseEnd): Promise<LeaseEnd> {
  client.log(`the lease of ${prefix.addr} is ${end}: setting the interface down`);
  await client.link.setDown();
  return end;
}

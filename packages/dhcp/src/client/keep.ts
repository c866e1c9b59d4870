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
      const next = await continued(client, lease, watcher, signal);
      if (next === 'expired' || next === 'refused') return await stop(client, lease, next);
      lease = next;
    } catch (error) {
      if (DhcpError.is(error, 'DHCP_INTERFACE_GONE')) return 'gone';
      throw error;
    }
  }
}

/** Leases of the same second are not renewed in the same second. */
function renewalDelay({ clock, random }: Client, { renewAt }: Lease): number {
  return Math.max(0, (renewAt - clock.now()) * (1 - 0.05 * random()));
}

/** The lease that comes after this one, of the same address; or why there is none. */
async function continued(
  client: Client,
  lease: Lease,
  watcher: LeaseWatcher,
  signal: AbortSignal,
): Promise<Lease | 'expired' | 'refused'> {
  // The machine slept, or nobody kept the lease for a while: it is too late to extend it.
  const overslept = client.clock.now() >= lease.expiresAt;
  const extended = overslept ? undefined : await extend(client, lease, watcher, signal);
  if (extended === 'refused') return (await sameAgain(client, lease, extended, signal)) ?? extended;
  if (overslept) return (await sameAgain(client, lease, 'expired', signal)) ?? 'expired';
  return extended ?? 'expired';
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
  client.log(`${lease.server} does not renew the lease of ${lease.prefix.addr}: asks all servers`);
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
  let told = '';
  for (let pause = 1000; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    try {
      return await run();
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (clock.now() >= deadline) return undefined;
      if (error.message !== told) log(error.message);
      told = error.message;
      await clock.sleep(Math.min(pause, deadline - clock.now()), signal);
    }
  }
}

const LONGEST_PAUSE = 10_000;

/** A new lease, which is good only when it is of the same address: another one is given back. */
async function sameAgain(
  client: Client,
  { prefix }: Lease,
  why: 'expired' | 'refused',
  signal: AbortSignal,
): Promise<Lease | undefined> {
  client.log(`the lease of ${prefix.addr} is ${why}: asks for the same address again`);
  try {
    const found = await acquire(client, { wish: prefix.addr, inUse: true, signal });
    if (found.prefix.equals(prefix)) return found;
    client.log(`the servers want ${found.prefix} in the place of ${prefix}, which takes a new attachment`);
    await release(client, found);
  } catch (error) {
    if (!isPassing(error)) throw error;
    client.log(`no new lease of ${prefix.addr}: ${error.message}`);
  }
  return undefined;
}

/** A refusal that says nothing about whether the interface is still there; a signal's abort is none. */
function isPassing(error: unknown): error is HeddleError {
  return error instanceof HeddleError && !DhcpError.is(error, 'DHCP_INTERFACE_GONE');
}

async function stop(client: Client, { prefix }: Lease, end: LeaseEnd): Promise<LeaseEnd> {
  client.log(`the lease of ${prefix.addr} is ${end}: sets the interface down`);
  await client.link.setDown();
  return end;
}

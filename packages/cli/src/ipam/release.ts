/** Giving back addresses that no attachment of this node uses any more, and only those. */
import { setTimeout as pause } from 'node:timers/promises';
import { handlesInUse } from '@heddle/agent';
import { HeddleError } from '@heddle/errors';
import { type HandleRecord, LeakWatch, listHandles, type Member, releaseHandle } from '@heddle/ipam/blocks';
import type { KernelSession } from '@heddle/netlink';

/** What was given back. */
export interface ReleasedAddresses {
  readonly handle: string;
  readonly addresses: readonly string[];
}

/** An address that may be in use is not given back. */
class InUseError extends HeddleError {
  override readonly code = 'IPAM_IN_USE';
}

/** The handles of this node that a look finds unused, which one look does not prove. */
export async function unusedHandles(member: Member, host: KernelSession): Promise<readonly HandleRecord[]> {
  const records = (await listHandles(member)).map(({ value }) => value);
  const inUse = await handlesInUse(records, host);
  return records.filter(({ handle }) => !inUse.has(handle));
}

/**
 * Gives back what two looks find unused, so many seconds apart.
 *
 * @param tell hears how many are being waited for
 */
export async function releaseLeaked(
  member: Member,
  host: KernelSession,
  { seconds, tell }: { readonly seconds: number; readonly tell: (count: number) => void },
): Promise<readonly ReleasedAddresses[]> {
  const leaks = new LeakWatch(member, seconds * 1000);
  const used = async () =>
    handlesInUse(
      (await listHandles(member)).map(({ value }) => value),
      host,
    );
  const before = await unusedHandles(member, host);
  if (before.length === 0) return [];
  await leaks.observe(await used());
  tell(before.length);
  await pause(seconds * 1000 + 1);
  const released = new Set((await leaks.release(await used())).map(String));
  return before
    .map(({ handle, addresses }) => ({ handle, addresses: addresses.map(({ addr }) => `${addr}`) }))
    .filter(({ addresses }) => addresses.some((each) => released.has(each)));
}

/**
 * Gives back what certain handles hold.
 *
 * @param isForced also where the addresses may be in use
 * @throws {InUseError} naming the first that may be in use; nothing was given back then
 */
export async function releaseNamed(
  member: Member,
  host: KernelSession,
  names: readonly string[],
  isForced: boolean,
): Promise<readonly ReleasedAddresses[]> {
  const known = await listHandles(member);
  const records = names.map((name) => {
    const found = known.find(({ value }) => value.handle === name);
    if (found !== undefined) return found;
    throw new InUseError(`${name}: node ${member.node} has no such handle`, {
      hint: '`heddle ipam show -o wide` lists them',
    });
  });
  const inUse = await handlesInUse(
    records.map(({ value }) => value),
    host,
  );
  const used = names.find((name) => inUse.has(name));
  if (used !== undefined && !isForced) {
    throw new InUseError(`${used}: its attachment is there, or may be`, {
      hint: 'delete the pod; --force gives the addresses back all the same, and others may get them',
    });
  }
  const released: ReleasedAddresses[] = [];
  for (const { value, revision } of records) {
    const addresses = await releaseHandle(member, value.handle, { writtenAt: revision });
    released.push({ handle: value.handle, addresses: addresses.map(String) });
  }
  return released;
}

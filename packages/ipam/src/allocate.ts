/**
 * Taking addresses for an attachment: one of every range set, or none at all.
 *
 * Everything is decided on the store's contents before the first change, under one lock, so two attachments
 * never get one address and a refusal leaves nothing behind.
 */
import { type Addr, Prefix } from '@heddle/netaddr';
import { IpamError, PoolExhaustedError } from './ipam-error.ts';
import type { Range } from './range.ts';
import { formatRangeSet, type RangeSet, rangeOf } from './range-set.ts';
import { formatOwner, isOwnedBy, type Owner, type Reservation } from './reservation.ts';
import type { Ledger, ReservationStore } from './store.ts';
import { measure } from './usage.ts';
import { nextFree } from './walk.ts';

/** What to allocate. */
export interface AllocationRequest {
  /** One address is taken of each, in this order. */
  readonly rangeSets: readonly RangeSet[];
  readonly owner: Owner;
  /** Addresses that are wanted: of the set that holds one, that one is taken. */
  readonly requested?: readonly Addr[];
  readonly signal?: AbortSignal;
}

/** One address that was taken. */
export interface Allocation {
  /** The address with its subnet's length, `10.1.2.3/24`. */
  readonly address: Prefix;
  /** The gateway of its subnet. */
  readonly gateway?: Addr;
}

/**
 * Takes one address of every range set for `owner`.
 *
 * @returns the addresses in the order of the range sets
 * @throws {PoolExhaustedError} when a set has no free address
 * @throws {IpamError} IPAM_DUPLICATE when the owner holds an address of a set already; otherwise about the
 *   requested addresses, or IPAM_STORE
 * @example
 * const [{ address }] = await allocate(store, { rangeSets, owner: { containerID: 'c1', ifName: 'eth0' } });
 */
export async function allocate(
  store: ReservationStore,
  request: AllocationRequest,
): Promise<readonly Allocation[]> {
  const options = request.signal === undefined ? {} : { signal: request.signal };
  return store.exclusive((ledger) => {
    const choices = choose(ledger, request);
    commit(ledger, request.owner, choices);
    return choices.map(({ addr, range }) => ({
      address: Prefix.of(addr, range.subnet.bits),
      ...(range.gateway !== undefined && { gateway: range.gateway }),
    }));
  }, options);
}

interface Choice {
  readonly addr: Addr;
  readonly range: Range;
}

function choose(ledger: Ledger, { rangeSets, owner, requested = [] }: AllocationRequest): readonly Choice[] {
  const held = ledger.held();
  const own = ledger.ofContainer(owner.containerID);
  const wanted = unique(requested);
  const picks = rangeSets.map((set) => wanted.find((addr) => rangeOf(set, addr) !== undefined));
  const choices = rangeSets.map((set, index) => {
    refuseDuplicate(set, index, owner, own);
    const pick = picks[index];
    if (pick !== undefined) return claim(set, index, pick, held);
    const addr = nextFree(set, held, ledger.lastReserved(index));
    if (addr === undefined) throw exhausted(set, index, addressesOf(held));
    return choiceOf(set, addr);
  });
  const unmet = wanted.filter((addr) => !picks.includes(addr));
  if (unmet.length > 0) {
    throw new IpamError('IPAM_REQUEST_UNMET', `failed to allocate all requested IPs: ${unmet.join(' ')}`, {
      hint: `each range set gives one address: ${rangeSets.map(formatRangeSet).join('; ')}`,
    });
  }
  return choices;
}

function commit(ledger: Ledger, owner: Owner, choices: readonly Choice[]): void {
  const taken: Addr[] = [];
  try {
    for (const { addr } of choices) {
      if (!ledger.reserve(addr, owner)) {
        throw new IpamError(
          'IPAM_ADDRESS_UNAVAILABLE',
          `address ${addr} was taken by someone who ignores the lock`,
        );
      }
      taken.push(addr);
    }
  } catch (error) {
    for (const addr of taken) ledger.release(addr);
    throw error;
  }
  for (const [index, { addr }] of choices.entries()) ledger.remember(index, addr);
}

/** A second ADD of the same attachment would take a second address and leak the first. */
function refuseDuplicate(
  set: RangeSet,
  index: number,
  owner: Owner,
  reservations: readonly Reservation[],
): void {
  const own = reservations.find(
    (reservation) => rangeOf(set, reservation.addr) !== undefined && isOwnedBy(owner, reservation),
  );
  if (own === undefined) return;
  throw new IpamError(
    'IPAM_DUPLICATE',
    `${own.addr} has been allocated to ${owner.containerID}, duplicate allocation is not allowed`,
    { rangeSet: index, hint: `delete ${formatOwner(owner)} before adding it again` },
  );
}

function claim(set: RangeSet, index: number, addr: Addr, held: ReadonlyMap<string, Reservation>): Choice {
  const choice = choiceOf(set, addr);
  const refuse = (message: string, hint?: string) =>
    new IpamError('IPAM_ADDRESS_UNAVAILABLE', message, {
      rangeSet: index,
      ...(hint !== undefined && { hint }),
    });
  if (choice.range.gateway?.equals(addr)) throw refuse(`requested ip ${addr} is subnet's gateway`);
  const holder = held.get(addr.toString());
  if (holder !== undefined) {
    throw refuse(
      `requested IP address ${addr} is not available in range set ${formatRangeSet(set)}`,
      `it is held by ${formatOwner(holder.owner)}`,
    );
  }
  return choice;
}

function choiceOf(set: RangeSet, addr: Addr): Choice {
  return { addr, range: rangeOf(set, addr) ?? set[0] };
}

function exhausted(set: RangeSet, index: number, held: Iterable<Addr>): PoolExhaustedError {
  const usage = measure(set, held);
  return new PoolExhaustedError(
    `no IP addresses available in range set: ${formatRangeSet(set)}: ${usage.used} of ${usage.size} in use`,
    index,
    usage,
  );
}

function addressesOf(held: ReadonlyMap<string, Reservation>): readonly Addr[] {
  return [...held.values()].map(({ addr }) => addr);
}

function unique(addrs: readonly Addr[]): readonly Addr[] {
  return [...new Map(addrs.map((addr) => [addr.toString(), addr])).values()];
}

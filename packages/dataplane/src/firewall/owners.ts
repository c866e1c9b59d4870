/**
 * Who has the addresses that the firewall lets through: elements of two sets of ours, whatever backend lets them. The
 * rules of iptables are the reference's, and the sources of firewalld are its own; neither has room for an owner.
 *
 * An address is one attachment's on each network: who comes second on the same network has it, for the first is gone.
 * Networks may overlap; then the rules for an address are there for as long as any of them has it.
 */
import type { AttachmentId } from '@heddle/cni';
import { networkTag, ownerComment } from '@heddle/cni/plugin';
import { Addr } from '@heddle/netaddr';
import {
  add,
  element,
  type KernelSession,
  type NftChange,
  type NftElement,
  type NftSet,
  set,
} from '@heddle/netlink';
import { NAT, TABLE } from '../layout.ts';
import {
  deletion,
  elementChanges,
  elementText,
  isOwnedBy,
  keyText,
  type OwnedElement,
  readElements,
} from '../owned-elements.ts';
import { perObject } from '../per-object.ts';

/** The sets: address and network, the latter by the first 32 bits of its tag. */
const OWNERS = {
  4: set({ ...NAT, name: 'firewall_owners4', key: ['ipv4_addr', 'mark'] }),
  6: set({ ...NAT, name: 'firewall_owners6', key: ['ipv6_addr', 'mark'] }),
} as const;
const SETS: readonly NftSet[] = [OWNERS[4], OWNERS[6]];

/** All that is known of owners. */
export function readOwners(host: KernelSession): Promise<readonly OwnedElement[]> {
  return readElements(host, SETS);
}

/** The address that a record is about. */
export function ownedAddress({ element: { key } }: OwnedElement): Addr | undefined {
  const [addr] = Array.isArray(key) ? (key as readonly unknown[]) : [key];
  return addr instanceof Addr ? addr : undefined;
}

/** The changes that make addresses, and no others, the owner's. */
export function ownershipChanges(
  present: readonly OwnedElement[],
  owner: AttachmentId,
  addresses: readonly Addr[],
): readonly NftChange[] {
  const wanted = addresses.map((addr) => recordOf(owner, addr));
  const keys = new Set(wanted.map(keyText));
  const changes = elementChanges(
    present,
    wanted,
    (each) => isOwnedBy(each, owner) || keys.has(keyText(each.element)),
  );
  return [add(TABLE), ...SETS.map(add), ...changes];
}

/** The changes that delete records. */
export function disownChanges(records: readonly OwnedElement[]): readonly NftChange[] {
  return records.map(deletion);
}

/** Of some addresses, those that nobody has but by these records, each once. */
export function freed(
  addresses: readonly Addr[],
  present: readonly OwnedElement[],
  records: readonly OwnedElement[],
): readonly Addr[] {
  const gone = new Set(records.map(({ element }) => elementText(element)));
  const left = new Map(addresses.map((addr) => [String(addr), addr]));
  for (let at = 0; at < present.length && left.size > 0; at++) {
    const each = present[at] as OwnedElement;
    const address = addressTextOf(each);
    if (left.has(address) && !gone.has(elementText(each.element))) left.delete(address);
  }
  return [...left.values()];
}

function recordOf(owner: AttachmentId, addr: Addr): NftElement {
  const { family, table } = NAT;
  const network = Number.parseInt(networkTag(owner.network).slice(0, 8), 16);
  const comment = ownerComment(owner);
  return element({ family, table, set: OWNERS[addr.family], key: [addr, network], comment });
}

const addressTextOf = perObject((each: OwnedElement) => String(ownedAddress(each)));

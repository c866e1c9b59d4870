/** Duplicate address detection, and what follows when an address may be used — RFC 4862, net/ipv6/addrconf.c */
import { Prefix } from '@heddle/netaddr';
import { IFA_F } from '../../address/codec.ts';
import { RT_TABLE } from '../../route/codec.ts';
import type { Namespace } from '../core/namespace.ts';
import { asksNeighbours } from '../link/kinds.ts';
import type { LinkRecord } from '../link/record.ts';
import { reachableFrom } from '../link/segment.ts';
import { ensureRoute, kernelRoute, tableOf } from '../route/store.ts';
import type { AddressRecord } from './record.ts';
import { addressesOf, changeAddress } from './store.ts';

/** Begins detection for an address, as far as it is needed; without a carrier it waits for one. */
export function startDad(namespace: Namespace, address: AddressRecord): void {
  const link = namespace.links.get(address.link);
  if (link === undefined) return;
  if (!isChecked(namespace, link, address)) {
    finish(namespace, link, address);
  } else if (link.ipv6Ready) {
    namespace.machine.later(() => endDad(namespace, address));
  }
}

/** Detection is over: the address is usable, or somebody on the link has it. */
function endDad(namespace: Namespace, { link: index, local }: AddressRecord): void {
  const link = namespace.links.get(index);
  const address = addressesOf(namespace, 6, index).find((each) => each.local.equals(local));
  if (link?.ipv6Ready !== true || address === undefined || (address.flags & IFA_F.TENTATIVE) === 0) return;
  const isTaken = reachableFrom(namespace, link).some((other) =>
    other.namespace.addresses.some(
      (each) => each.link === other.index && each.local.equals(local) && (each.flags & IFA_F.TENTATIVE) === 0,
    ),
  );
  if (isTaken) changeAddress(namespace, address, { ...address, flags: address.flags | IFA_F.DADFAILED });
  else finish(namespace, link, address);
}

function finish(namespace: Namespace, link: LinkRecord, address: AddressRecord): void {
  const flags = address.flags & ~(IFA_F.TENTATIVE | IFA_F.OPTIMISTIC | IFA_F.DADFAILED);
  if (flags !== address.flags) changeAddress(namespace, address, { ...address, flags });
  const table = tableOf(namespace, link, RT_TABLE.LOCAL);
  ensureRoute(namespace, kernelRoute(link, { dst: Prefix.host(address.local), type: 'local', table }));
  if (namespace.settings.isOn('ipv6', link.index, 'forwarding')) addAnycast(namespace, link, address);
}

/** A router answers to the first address of its networks too — RFC 4291 §2.6.1 */
export function addAnycast(
  namespace: Namespace,
  link: LinkRecord,
  { address, bits, flags }: AddressRecord,
): void {
  if (bits >= 127 || (flags & IFA_F.TENTATIVE) !== 0) return;
  const dst = Prefix.host(Prefix.of(address, bits).network);
  const table = tableOf(namespace, link, RT_TABLE.LOCAL);
  ensureRoute(namespace, kernelRoute(link, { dst, type: 'anycast', table }));
}

function isChecked({ settings }: Namespace, link: LinkRecord, { flags }: AddressRecord): boolean {
  if ((flags & IFA_F.TENTATIVE) === 0 || !asksNeighbours(link)) return false;
  return settings.isOn('ipv6', 'all', 'accept_dad') || settings.isOn('ipv6', link.index, 'accept_dad');
}

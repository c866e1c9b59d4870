/** RTM_GETMULTICAST: the IPv6 multicast groups that links are in — net/ipv6/mcast.c, addrconf_join_solict */
import { Addr, solicitedNode } from '@heddle/netaddr';
import { encode } from '@heddle/wire';
import { type AddressMessage, addressMessage } from '../../address/codec.ts';
import { AF } from '../../core/family.ts';
import type { Reply } from '../../core/message.ts';
import { RTM } from '../../core/rtm.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse } from '../core/refusal.ts';
import { asksNeighbours } from '../link/kinds.ts';
import type { LinkRecord } from '../link/record.ts';
import { isDisabled } from './ipv6.ts';
import { addressesOf } from './store.ts';

/** The groups that a request asks for. */
export function listGroups(namespace: Namespace, { family, index }: AddressMessage): Reply[] {
  if (family !== AF.INET6) refuse('EOPNOTSUPP', 'the fake kernel lists multicast groups of IPv6 only');
  return [...namespace.links.values()]
    .filter((link) => index === 0 || link.index === index)
    .flatMap((link) => groupsOf(namespace, link).map((group) => describe(link.index, group)));
}

/** All nodes, the address's own for each address of a link that is up, and the routers' for routers. */
function groupsOf(namespace: Namespace, link: LinkRecord): Addr[] {
  if (isDisabled(namespace, link)) return [];
  const groups = ['ff02::1', 'ff01::1'];
  if (link.up && asksNeighbours(link)) {
    groups.unshift(...addressesOf(namespace, 6, link.index).map(({ local }) => `${solicitedNode(local)}`));
  }
  if (namespace.settings.isOn('ipv6', link.index, 'forwarding')) groups.push('ff02::2', 'ff01::2', 'ff05::2');
  return [...new Set(groups)].map(Addr.parse);
}

function describe(index: number, multicast: Addr): Reply {
  const body = encode(addressMessage, {
    ...{ family: AF.INET6, prefixLength: multicast.bits, flags: PERMANENT, index },
    attributes: { multicast },
  });
  return { type: RTM.GETMULTICAST, flags: 0, body };
}

/** IFA_F_PERMANENT */
const PERMANENT = 0x80;

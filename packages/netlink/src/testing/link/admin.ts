/** Setting links up and down, and what goes with it. */
import { linkDown4, linkUp4 } from '../address/ipv4.ts';
import { beginIpv6, linkDown6, linkUp6 } from '../address/ipv6.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse } from '../core/refusal.ts';
import { dropNeighbours } from '../neighbour/store.ts';
import { isOperational } from './describe.ts';
import { linkAt, linksAbove } from './find.ts';
import { isLoopback } from './kinds.ts';
import type { LinkRecord } from './record.ts';

/** Sets a link up or down. */
export function setUp(namespace: Namespace, index: number, up: boolean): void {
  const link = namespace.links.get(index);
  if (link === undefined || link.up === up) return;
  if (up && link.kind === 'vlan' && linkAt(link.lower)?.up !== true) refuse('ENETDOWN');
  if (up) bringUp(namespace, { ...link, up, wasUp: true });
  else takeDown(namespace, link);
  // VLANs go up and down with what they sit on.
  for (const at of linksAbove(namespace, link)) {
    if (linkAt(at)?.kind === 'vlan') setUp(at.namespace, at.index, up);
  }
}

function bringUp(namespace: Namespace, link: LinkRecord): void {
  namespace.links.set(link.index, link);
  linkUp4(namespace, link);
  linkUp6(namespace, link);
  if (isLoopback(link) || (isOperational(link) && !link.ipv6Ready)) beginIpv6(namespace, link);
}

function takeDown(namespace: Namespace, link: LinkRecord): void {
  namespace.links.set(link.index, { ...link, up: false, ipv6Ready: false });
  linkDown4(namespace, link);
  linkDown6(namespace, link);
  dropNeighbours(namespace, link.index);
}

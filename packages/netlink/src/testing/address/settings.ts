/** What switching a kernel parameter of IPv6 does to addresses and routes — net/ipv6/addrconf.c */
import type { Namespace } from '../core/namespace.ts';
import { isOperational } from '../link/describe.ts';
import { removeRoutes } from '../route/store.ts';
import { addAnycast } from './dad.ts';
import { beginIpv6, linkDown6, linkUp6 } from './ipv6.ts';
import { addressesOf, dropAddress } from './store.ts';

/** Forwarding was switched: routers answer to the anycast addresses of their networks, hosts do not. */
export function applyForwarding6(namespace: Namespace): void {
  for (const link of namespace.links.values()) {
    if (namespace.settings.isOn('ipv6', link.index, 'forwarding')) {
      for (const address of addressesOf(namespace, 6, link.index)) addAnycast(namespace, link, address);
    } else {
      removeRoutes(namespace, ({ type, hops }) => type === 'anycast' && hops[0]?.link === link.index);
    }
  }
}

/** IPv6 was switched on or off. */
export function applyDisableIpv6(namespace: Namespace): void {
  for (const link of namespace.links.values()) {
    const disabled = namespace.settings.isOn('ipv6', link.index, 'disable_ipv6');
    if (disabled) {
      namespace.links.set(link.index, { ...link, ipv6Ready: false });
      for (const address of addressesOf(namespace, 6, link.index)) dropAddress(namespace, address);
      linkDown6(namespace, link);
    } else if (link.up && isOperational(link) && !link.ipv6Ready) {
      linkUp6(namespace, link);
      beginIpv6(namespace, link);
    }
  }
}

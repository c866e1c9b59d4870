/** The kernel parameters that decide what plugins do, and that plugins change. */

const NODE_IPV4 = ['rp_filter', 'arp_announce', 'arp_ignore', 'proxy_arp', 'route_localnet', 'accept_local'];
const LINK_IPV4 = ['forwarding', ...NODE_IPV4];
const IPV6 = ['disable_ipv6', 'forwarding', 'accept_ra', 'accept_dad'];

/** Of a namespace; forwarding first, for it sets others. */
export const NODE_PARAMETERS: readonly string[] = [
  'net/ipv4/ip_forward',
  'net/ipv6/conf/all/forwarding',
  ...['all', 'default'].flatMap((place) => NODE_IPV4.map((name) => `net/ipv4/conf/${place}/${name}`)),
  'net/ipv6/conf/all/disable_ipv6',
  ...IPV6.map((name) => `net/ipv6/conf/default/${name}`),
  ...['iptables', 'ip6tables', 'arptables'].map((name) => `net/bridge/bridge-nf-call-${name}`),
];

/** Of a link. */
export function linkParameters(link: string): readonly string[] {
  return [
    ...LINK_IPV4.map((name) => `net/ipv4/conf/${link}/${name}`),
    ...IPV6.map((name) => `net/ipv6/conf/${link}/${name}`),
  ];
}

/**
 * Every number and name by which Heddle's objects in the kernel meet other software's. `docs/numbers.md` explains
 * each; a test keeps the two equal. Nothing else in Heddle chooses such a number.
 */

/** Tables of ours in nftables, by family. */
export const TABLES = {
  /** Address translation for IPv4 and IPv6. */
  nat: { family: 'inet', table: 'heddle' },
  /** What may enter a bridge. */
  bridge: { family: 'bridge', table: 'heddle' },
} as const;

/**
 * Base chains: where the kernel calls us. A lower priority is called earlier.
 * Source of the kernel's own: linux/netfilter_ipv4.h (enum nf_ip_hook_priorities), netfilter_bridge.h.
 */
export const BASE_CHAINS = {
  /** Before connection tracking: what no wire may carry. */
  guard: { type: 'filter', hook: 'prerouting', priority: -300 },
  /** Destination translation of what comes in (NF_IP_PRI_NAT_DST). */
  prerouting: { type: 'nat', hook: 'prerouting', priority: -100 },
  /** Destination translation of what the node itself sends. */
  output: { type: 'nat', hook: 'output', priority: -100 },
  /** Source translation (NF_IP_PRI_NAT_SRC). */
  postrouting: { type: 'nat', hook: 'postrouting', priority: 100 },
  /** In the bridge table, before everything else (NF_BR_PRI_NAT_DST_BRIDGED). */
  bridgePrerouting: { type: 'filter', hook: 'prerouting', priority: -300 },
} as const;

/** Bits of the packet mark (`skb->mark`). */
export const PACKET_MARKS = {
  /** The reference's portmap, iptables backend: masquerade this packet. The bit is configurable (`markMasqBit`). */
  portMapMasquerade: 0x2000,
} as const;

/** The protocol (origin) of routes, rules, neighbours and addresses of ours: `RTA_PROTOCOL` and its siblings. */
export const ROUTE_PROTOCOL = 72;

/** Ranges of routing tables of ours; the plugins that need one take a free one from it. */
export const ROUTING_TABLES = {
  /** The tables of `sbr`, as the reference numbers them. */
  sourceBased: { first: 100, last: 4_294_967_295 },
  /** The tables of `vrf`, as the reference numbers them. */
  vrf: { first: 1, last: 4_294_967_295 },
} as const;

/** Groups of links (`IFLA_GROUP`), by which one message deletes them all. */
export const LINK_GROUPS = {
  /** The kernel's default: what has a life of its own. */
  none: 0,
} as const;

/** VXLAN and Geneve network identifiers. */
export const VNIS = {
  /** The node-to-node network of the cluster. */
  cluster: 4096,
} as const;

/** Files and directories of ours that live until the next boot. */
export const RUNTIME_PATHS = {
  directory: '/run/heddle',
  /** Keeps two processes of Heddle from changing iptables rules at once. */
  iptablesLock: '/run/heddle/iptables.lock',
} as const;

/**
 * Every number and name by which Heddle's objects in the kernel meet other software's. `docs/numbers.md` explains each;
 * a test keeps the two equal. Nothing else in Heddle chooses such a number.
 */

/** Tables of ours in nftables. */
export const TABLES = {
  /** Address translation and the firewall, for IPv4 and IPv6. */
  nat: { family: 'inet', table: 'heddle' },
  /** What may enter a bridge. */
  bridge: { family: 'bridge', table: 'heddle' },
  /** Marks the doctor's own probes as traced, while it sends them. */
  doctor: { family: 'inet', table: 'heddle-doctor' },
} as const;

/**
 * Base chains, where the kernel calls us; a lower priority is called earlier.
 * Source of the kernel's own priorities: linux/netfilter_ipv4.h and linux/netfilter_bridge.h.
 */
export const BASE_CHAINS = {
  /** Before connection tracking (NF_IP_PRI_RAW): what no wire may carry. */
  guard: { type: 'filter', hook: 'prerouting', priority: -300 },
  /** Before connection tracking (NF_IP_PRI_RAW): what pods of the cluster send under addresses that are not theirs. */
  clusterSources: { type: 'filter', hook: 'prerouting', priority: -300 },
  /** What comes in gets its destination (NF_IP_PRI_NAT_DST). */
  prerouting: { type: 'nat', hook: 'prerouting', priority: -100 },
  /** What the node itself sends gets its destination (NF_IP_PRI_NAT_DST). */
  output: { type: 'nat', hook: 'output', priority: -100 },
  /** What the node passes on (NF_IP_PRI_FILTER): the firewall. */
  forward: { type: 'filter', hook: 'forward', priority: 0 },
  /** What leaves gets its source (NF_IP_PRI_NAT_SRC). */
  postrouting: { type: 'nat', hook: 'postrouting', priority: 100 },
  /** What pods send out of the cluster, after all that portmap and single plugins want (NF_IP_PRI_NAT_SRC + 10). */
  clusterPostrouting: { type: 'nat', hook: 'postrouting', priority: 110 },
  /** In the bridge's table, before all else (NF_BR_PRI_NAT_DST_BRIDGED). */
  bridgePrerouting: { type: 'filter', hook: 'prerouting', priority: -300 },
  /** In the doctor's table, before all else (NF_IP_PRI_RAW_BEFORE_DEFRAG): marks its probes as traced. */
  doctorMark: { type: 'filter', hook: 'prerouting', priority: -450 },
  /** In the doctor's table, behind everybody: probes that get here have come through the hook. */
  doctorArrived: { type: 'filter', hook: 'prerouting', priority: 1000 },
  doctorForwarded: { type: 'filter', hook: 'forward', priority: 1000 },
  doctorLeaving: { type: 'filter', hook: 'postrouting', priority: 1000 },
} as const;

/** Bits of the packet mark (`skb->mark`) that packets of ours may carry. */
export const PACKET_MARKS = {
  /** portmap with iptables, as the reference has it: masquerade this packet. `markMasqBit` chooses another bit. */
  portMapMasquerade: 0x2000,
} as const;

/** The origin of routes, rules, neighbours and addresses of ours: one byte, `proto` in the output of `ip`. */
export const ROUTE_PROTOCOL = 72;

/** The metric of the cluster's routes: with the protocol it tells them from routes to pods of this node. */
export const ROUTE_METRIC = 72;

/** Where plugins that need a routing table of their own begin to look for a free one, as the reference does. */
export const ROUTING_TABLES = {
  /** One for each address of a container that `sbr` takes care of. */
  sourceBased: 100,
  /** One for each `vrf`. */
  vrf: 1,
} as const;

/** Groups of links (`IFLA_GROUP`). */
export const LINK_GROUPS = {
  /** Links of the cluster's network on this node, which can be deleted together. */
  cluster: 72,
  /** Links that are just being deleted together, in one send with being put there. */
  going: 73,
  /** The host's ends of pods of the cluster, which send under their own addresses only. */
  pods: 74,
} as const;

/** Network identifiers of VXLAN and Geneve. */
export const VNIS = {
  /** The network between the nodes of a cluster. */
  cluster: 72,
} as const;

/** UDP ports of overlays; IANA's. */
export const UDP_PORTS = {
  vxlan: 4789,
  geneve: 6081,
} as const;

/** What lives until the next boot. */
export const RUNTIME_PATHS = {
  /** The directory of all that follows. */
  directory: '/run/heddle',
  /** Marks of ADDs that are under way. */
  adding: '/run/heddle/adding',
  /** Locks of attachments and networks. */
  locks: '/run/heddle/locks',
  /** An empty directory, locked by the process that changes rules. */
  rules: '/run/heddle/rules',
} as const;

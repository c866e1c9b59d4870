/** What is known of other projects' plugins: what they wait for, and what they leave on a node. */

/** A daemon that plugins depend on, and the sign that it is there. */
export interface KnownDaemon {
  /** The types of its plugins. */
  readonly types: readonly string[];
  readonly daemon: string;
  /** A socket or file that is there when it is ready. */
  readonly path: string;
}

/** Daemons by what they provide. */
export const DAEMONS: readonly KnownDaemon[] = [
  { types: ['flannel'], daemon: 'flanneld', path: '/run/flannel/subnet.env' },
  { types: ['calico'], daemon: 'calico-node', path: '/var/lib/calico/nodename' },
  { types: ['cilium-cni'], daemon: 'the Cilium agent', path: '/var/run/cilium/cilium.sock' },
  { types: ['antrea'], daemon: 'the Antrea agent', path: '/var/run/antrea/cni.sock' },
  { types: ['multus-shim'], daemon: 'the Multus daemon', path: '/run/multus/multus.sock' },
  { types: ['kube-ovn'], daemon: 'kube-ovn-cni', path: '/run/openvswitch/kube-ovn-daemon.sock' },
  {
    types: ['ovn-k8s-cni-overlay'],
    daemon: 'ovnkube-node',
    path: '/var/run/ovn-kubernetes/cni/ovn-cni-server.sock',
  },
  { types: ['dhcp'], daemon: 'the CNI DHCP daemon', path: '/run/cni/dhcp.sock' },
];

/** What a CNI, or other software that meddles with packets, leaves on a node. */
export interface Footprint {
  readonly project: string;
  /** Words that its configurations have in them: the types of its plugins, names of its files. */
  readonly words: readonly string[];
  /** Names of links. */
  readonly links?: RegExp;
  /** Names of chains, of nftables or of either kind of iptables. */
  readonly chains?: RegExp;
  /** Tables of nftables, as `inet name`. */
  readonly tables?: RegExp;
  /** Files and directories of its own. */
  readonly paths?: readonly string[];
}

/** The CNIs whose leftovers are known. */
export const CNI_FOOTPRINTS: readonly Footprint[] = [
  {
    project: 'Flannel',
    words: ['flannel', 'canal'],
    links: /^flannel(-v6)?\.(\d+|ipip)$|^flannel-wg(-v6)?$/,
    chains: /^FLANNEL-(FWD|POSTRTG)$/,
    tables: /^(ip|ip6) flannel-ipv[46]$/,
    paths: ['/run/flannel/subnet.env', '/var/lib/cni/flannel'],
  },
  {
    project: 'Calico',
    words: ['calico', 'canal'],
    links: /^cali[0-9a-f]{11}$|^vxlan(-v6)?\.calico$|^wireguard\.cali$|^wg-v6\.cali$|^bpf(in|out)\.cali$/,
    chains: /^cali-/,
    tables: /^(ip|ip6|inet) calico$/,
    paths: ['/var/lib/calico', '/var/run/calico', '/var/log/calico'],
  },
  {
    project: 'Cilium',
    words: ['cilium'],
    links: /^cilium_(host|net|vxlan|geneve|wg0|ipip4|ipip6)$|^lxc_health$|^lxc[0-9a-f]{12}$/,
    chains: /^(OLD_)?CILIUM_/,
    paths: ['/var/run/cilium', '/sys/fs/bpf/cilium', '/sys/fs/bpf/tc/globals/cilium_calls_netdev_00002'],
  },
  {
    project: 'Weave Net',
    words: ['weave'],
    links: /^weave$|^vethwe-(bridge|datapath|pcap)$|^vethwepl[0-9a-f]+$|^vxlan-6784$/,
    chains: /^WEAVE(-|$)/,
    paths: ['/var/lib/weave'],
  },
  {
    project: 'kube-router',
    words: ['kube-router', 'kuberouter', 'kube-bridge'],
    links: /^kube-bridge$|^kube-dummy-if$|^kube-tunnel-if$/,
    chains: /^KUBE-(ROUTER|POD-FW|NWPLCY)-/,
    tables: /^(ip|ip6|inet) kube-router/,
    paths: ['/var/lib/kube-router'],
  },
  {
    project: 'Antrea',
    words: ['antrea'],
    links: /^antrea-(gw0|tun0|egress0|ingress0|wg0)$/,
    chains: /^ANTREA-/,
    tables: /^(ip|ip6|inet) antrea/,
    paths: ['/var/run/antrea', '/var/log/antrea'],
  },
];

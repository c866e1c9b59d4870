/** Plugins in the wrong place, the wrong order, or the wrong company. */
import { closest } from '@heddle/cni';
import { type AuditRule, networkRule, partRule } from '../audit-rule.ts';
import { isReference, KNOWN_PLUGINS } from '../known/known-plugins.ts';
import { isOn, nameOf, textMember } from '../model/network.ts';

const metaFirst = partRule({
  id: 'chain/meta-first',
  title: 'A chained plugin in the first place',
  severity: 'error',
  explains:
    'portmap, bandwidth, firewall, tuning, sbr and vrf change what a plugin before them has made. In the first place there is nothing to change, and they fail.',
  *check({ document, path, type, known, index }, network) {
    if (index !== 0 || known?.role !== 'meta' || !isReference(known.type)) return;
    const hasMain = network.parts.some((part) => part.known?.role !== 'meta');
    yield {
      place: document.place([...path, 'type']),
      what: `${type} comes first, and no plugin before it makes an interface`,
      consequence: `Every attachment fails: ${type} must be called as a chained plugin.`,
      remedy: hasMain
        ? `Move it behind the plugin that makes the interface.`
        : 'Put a plugin that makes an interface, such as bridge, before it.',
    };
  },
});

const secondMain = partRule({
  id: 'chain/second-interface',
  title: 'Two plugins that make the interface',
  severity: 'error',
  explains:
    'All plugins of a list get one interface name. Of two that make an interface the second finds the name taken, and the attachment fails. Several interfaces need several networks, with Multus or a runtime that attaches to more than one.',
  *check({ document, path, type, known, index }, network) {
    if (index === 0 || known?.role !== 'main' || !isReference(known.type)) return;
    const before = network.parts.find((part) => part.index < index && part.known?.role === 'main');
    if (before === undefined) return;
    yield {
      place: document.place([...path, 'type']),
      what: `${type} makes an interface, and ${before.type} before it does so, too`,
      consequence: 'The second one finds the name of the interface taken, and the attachment fails.',
      remedy: 'Make it a network of its own.',
    };
  },
});

const ipamInChain = partRule({
  id: 'chain/ipam-as-plugin',
  title: 'A plugin for addresses in the place of another',
  severity: 'error',
  explains:
    'host-local, static and dhcp give addresses to the plugin that makes the interface: they belong into its `ipam` object, not into the list.',
  *check({ document, path, type, known }) {
    if (known?.role !== 'ipam') return;
    yield {
      place: document.place([...path, 'type']),
      what: `${type} gives addresses and makes no interface`,
      consequence: 'Containers get no interface from it.',
      remedy: 'Move it into the "ipam" object of the plugin that makes the interface.',
    };
  },
});

const mainAsIpam = partRule({
  id: 'chain/plugin-as-ipam',
  title: 'A plugin in the place of one for addresses',
  severity: 'error',
  explains:
    '`ipam.type` names a plugin that gives addresses, such as host-local. One that makes interfaces answers with an interface, or fails.',
  *check({ document, ipamPath, ipamType, known }) {
    if (ipamType === undefined || known?.addresses === 'own') return;
    const delegate = KNOWN_PLUGINS.get(ipamType);
    if (
      delegate === undefined ||
      delegate.role === 'ipam' ||
      delegate.role === 'either' ||
      delegate.ipamMembers !== undefined
    )
      return;
    yield {
      place: document.place([...ipamPath, 'type']),
      what: `${ipamType} is no plugin for addresses`,
      consequence: 'Every attachment fails.',
      remedy: 'Name one that is: host-local, static, dhcp, whereabouts, …',
    };
  },
});

const noIpam = partRule({
  id: 'chain/no-ipam',
  title: 'Nobody gives addresses',
  severity: 'error',
  explains:
    'ptp, ipvlan, vlan and dummy ask a plugin for addresses and fail when the configuration names none. bridge, macvlan and host-device can do without: they then make a network of layer 2.',
  *check({ document, path, ipam, ipamPath, ipamType, type = '', raw, index }, network) {
    if (ipamType !== undefined) return;
    const isGateway = type === 'bridge' && (isOn(raw, 'isGateway') || isOn(raw, 'isDefaultGateway'));
    const needs = NEED_IPAM.includes(type);
    if (ipam !== undefined && Object.keys(ipam).length > 0 && (needs || WITHOUT.includes(type))) {
      const meant = Object.keys(ipam).find((key) => closest(key, ['type']) !== undefined);
      yield {
        place: document.place(ipamPath),
        what: '"ipam" names no type',
        consequence: needs
          ? 'Every attachment fails: "no plugin name provided".'
          : 'Its members are ignored, and containers get no address.',
        remedy:
          meant === undefined
            ? 'Add "type" to "ipam": "host-local" fits a subnet or ranges.'
            : `There is "${meant}"; write "type".`,
      };
    } else if (needs && !(type === 'ipvlan' && index > 0)) {
      yield {
        place: document.place([...path, 'type']),
        what: `${type} needs "ipam" to get addresses`,
        consequence: 'Every attachment fails: "no plugin name provided".',
        remedy: 'Add "ipam": {"type": "host-local", "subnet": …}.',
      };
    } else if (isGateway) {
      yield {
        severity: 'warning',
        place: document.place([...path, 'type']),
        what: `bridge is to be the gateway of ${nameOf(network)}, but nobody gives addresses`,
        consequence: 'The bridge gets no address, and containers neither.',
        remedy: 'Add "ipam", or remove "isGateway" and "isDefaultGateway" for a network of layer 2.',
      };
    }
  },
});

const NEED_IPAM: readonly string[] = ['ptp', 'ipvlan', 'vlan', 'dummy'];

const WITHOUT: readonly string[] = ['bridge', 'macvlan', 'host-device', 'tap'];

const noHostSide = partRule({
  id: 'chain/no-host-side',
  title: 'A chained plugin that this interface defeats',
  severity: 'warning',
  explains:
    'Traffic of macvlan, ipvlan, vlan, host-device and SR-IOV interfaces does not pass the host: portmap and firewall have no effect on it, and bandwidth has no host side to shape.',
  *check({ document, path, type = '' }, network) {
    const [main] = network.parts;
    const effect = EFFECTS.get(type);
    if (effect === undefined || !PAST_HOST.includes(main?.type ?? '')) return;
    yield {
      place: document.place([...path, 'type']),
      what: `${type} cannot work on an interface of ${main?.type}`,
      consequence: effect,
      remedy: `Remove ${type}, or use bridge or ptp.`,
    };
  },
});

const PAST_HOST: readonly string[] = ['macvlan', 'ipvlan', 'vlan', 'host-device', 'sriov', 'ib-sriov'];

const EFFECTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    portmap: 'Published ports do not reach the container from other machines.',
    bandwidth: 'Attaching fails as soon as a limit is set: there is no host side to shape.',
    firewall: 'Its rules see none of the traffic.',
  }),
);

const bridgePolicy = partRule({
  id: 'chain/ingress-policy-without-bridge',
  title: 'An ingress policy for bridges without a bridge',
  severity: 'error',
  explains:
    '`ingressPolicy` `same-bridge` and `isolated` of firewall are about the bridge that the first plugin made, and fail without one.',
  *check({ document, path, raw, type }, network) {
    const policy = textMember(raw, 'ingressPolicy');
    const [main] = network.parts;
    if (type !== 'firewall' || (policy !== 'same-bridge' && policy !== 'isolated')) return;
    if (
      main === undefined ||
      main.type === 'bridge' ||
      main.type === 'flannel' ||
      main.known?.vendor !== 'the reference suite'
    )
      return;
    yield {
      place: document.place([...path, 'ingressPolicy']),
      what: `ingressPolicy ${policy} needs a bridge, and ${main.type} makes none`,
      consequence: 'Rules are made for the wrong interface, or the attachment fails.',
      remedy: 'Use bridge, or remove "ingressPolicy".',
    };
  },
});

const onlyLoopback = networkRule({
  id: 'chain/only-loopback',
  title: 'A network of the loopback interface alone',
  severity: 'error',
  explains:
    'Runtimes bring up the loopback interface themselves. A network of loopback alone gives a Pod no other interface; as the first file of the directory it is the network of all Pods.',
  *check(network, { directories }) {
    const [first] = network.parts;
    if (network.parts.length !== 1 || first?.type !== 'loopback') return;
    const others =
      directories
        .find(({ files }) => files.includes(network.file))
        ?.files.filter(({ role }) => role !== 'other') ?? [];
    const isFirst = others.length > 1 && others[0] === network.file;
    if (!isFirst) return;
    yield {
      place: first.document.place([...first.path, 'type']),
      what: 'the first network of the directory has only a loopback interface',
      consequence: 'containerd and CRI-O attach all Pods to it: none of them reaches anything.',
      remedy: `Rename ${network.file.name} so that it sorts last, or remove it.`,
    };
  },
});

const noPolicy = networkRule({
  id: 'chain/no-policy-engine',
  title: 'Nobody enforces NetworkPolicy',
  severity: 'note',
  explains:
    'None of the plugins of the network enforces policies, so NetworkPolicy objects are accepted by Kubernetes and have no effect, unless an agent beside the chain does it (kube-router, Calico in policy mode, kube-network-policies).',
  *check(network) {
    const [first] = network.parts;
    if (
      first === undefined ||
      network.startedBy !== undefined ||
      !network.parts.some(({ known }) => known?.isCluster)
    )
      return;
    if (network.parts.some(({ known }) => known === undefined || known.enforcesPolicy === true)) return;
    if (first.known?.vendor === 'Multus' || first.known?.vendor === 'AWS VPC CNI') return;
    yield {
      place: first.document.place([...first.path, 'type']),
      what: `no plugin of ${nameOf(network)} enforces network policies`,
      consequence:
        'NetworkPolicy objects have no effect, without any message, unless an agent beside the chain enforces them.',
      remedy: 'Run a policy engine, or do not count on policies.',
    };
  },
});

/** Rules on chains, the likeliest first. */
export const CHAIN_RULES: readonly AuditRule[] = [
  ...[onlyLoopback, metaFirst, noIpam, secondMain, ipamInChain, mainAsIpam],
  ...[bridgePolicy, noHostSide, noPolicy],
];

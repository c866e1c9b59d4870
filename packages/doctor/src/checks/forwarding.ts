/** Whether the kernel passes the packets of containers on. */

import { commandLine } from '../command-line.ts';
import type { Finding } from '../finding.ts';
import { nameOf, type PodView } from '../node/pods.ts';
import type { NodeView } from '../node/view.ts';
import { found } from '../rule.ts';
import { count, doctorRule, type NodeCheck, some } from './check.ts';

const off = doctorRule({
  id: 'kernel/forwarding-off',
  severity: 'error',
  title: 'The node does not forward packets',
  explains:
    'Where the node is the gateway of containers, `net.ipv4.ip_forward` and, for IPv6, `net.ipv6.conf.all.forwarding` must be 1, and so must the setting of the link they come in by. Plugins set it when a container is attached; a configuration tool or a reload of sysctl sets it back.',
});

const strict = doctorRule({
  id: 'kernel/rp-filter',
  severity: 'error',
  title: 'Reverse path filtering drops packets of containers',
  explains:
    "With `rp_filter` = 1 the kernel drops a packet that comes in by another link than the one it would answer by. It is an error only where that is so: the node's route to a container leads to another link than the one the container is behind.",
});

const bridgeNf = doctorRule({
  id: 'kernel/bridge-nf-call',
  severity: 'warning',
  title: 'Packets between containers of one bridge pass by the rules of services',
  explains:
    "kube-proxy with iptables needs to see what one pod of a bridge sends another (`net.bridge.bridge-nf-call-iptables` = 1, of the module br_netfilter): a service's answer would otherwise go directly from pod to pod, from the wrong address.",
});

/** See the file's comment. */
export const forwardingCheck: NodeCheck = {
  rules: [off, strict, bridgeNf],
  look: async (view) => [...(await forwarding(view)), ...(await reversePath(view)), ...(await bridged(view))],
};

const SWITCHES = [
  { family: 4, all: 'net/ipv4/ip_forward', perLink: (name: string) => `net/ipv4/conf/${name}/forwarding` },
  {
    family: 6,
    all: 'net/ipv6/conf/all/forwarding',
    perLink: (name: string) => `net/ipv6/conf/${name}/forwarding`,
  },
] as const;

async function forwarding(view: NodeView): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { family, all, perLink } of SWITCHES) {
    const routed = view.pods.filter((pod) => isRoutedByNode(view, pod, family));
    if (routed.length === 0) continue;
    const names = some(routed.map(({ attachment }) => nameOf(attachment)));
    const about = {
      consequence: `Containers reach the node itself, and nothing beyond it, by IPv${family}.`,
      evidence: [`${count(routed.length, 'attachment')} with the node as gateway: ${names}`],
    };
    const sysctl = (name: string) => name.replaceAll('/', '.');
    if ((await view.sysctl(all)) === '0') {
      findings.push(
        found(off, {
          ...{ ...about, subject: sysctl(all), what: `${sysctl(all)} is 0` },
          remedy: 'switch it on, and write the same into a file of /etc/sysctl.d, so that it stays',
          commands: [commandLine('sysctl', '-w', `${sysctl(all)}=1`)],
        }),
      );
      continue;
    }
    for (const link of gatewaysOf(view, routed)) {
      const name = perLink(link);
      if ((await view.sysctl(name)) !== '0') continue;
      findings.push(
        found(off, {
          ...{ ...about, subject: link, what: `${sysctl(name)} is 0` },
          remedy: 'switch it on, and write the same into a file of /etc/sysctl.d, so that it stays',
          commands: [commandLine('sysctl', '-w', `${sysctl(name)}=1`)],
        }),
      );
    }
  }
  return findings;
}

/** Whether an attachment's packets for elsewhere come to the node to be passed on. */
function isRoutedByNode(view: NodeView, { inside, hostLink }: PodView, family: 4 | 6): boolean {
  if (hostLink === undefined || inside?.link === undefined) return false;
  const own = inside.routes.filter((route) => route.family === family && route.link === inside.link?.index);
  return own.some(
    ({ gateway }) =>
      gateway !== undefined &&
      (view.addresses.some(({ prefix }) => prefix.addr.equals(gateway)) ||
        (hostLink.master === undefined && gateway.isLinkLocal)),
  );
}

function gatewaysOf(view: NodeView, pods: readonly PodView[]): readonly string[] {
  const indexes = new Set(pods.flatMap(({ hostLink }) => hostLink?.master ?? hostLink?.index ?? []));
  return view.links.filter(({ index }) => indexes.has(index)).map(({ name }) => name);
}

async function reversePath(view: NodeView): Promise<readonly Finding[]> {
  const all = Number((await view.sysctl('net/ipv4/conf/all/rp_filter')) ?? 0);
  const findings: Finding[] = [];
  for (const { attachment, inside, hostLink } of view.pods) {
    if (hostLink === undefined || inside === undefined) continue;
    const arrival = view.links.find(({ index }) => index === (hostLink.master ?? hostLink.index));
    if (arrival === undefined) continue;
    for (const { prefix } of inside.addresses) {
      if (prefix.family !== 4) continue;
      const leaving = await linkTowards(view, prefix.addr);
      if (leaving === undefined || leaving.index === arrival.index) continue;
      const own = Number((await view.sysctl(`net/ipv4/conf/${arrival.name}/rp_filter`)) ?? 0);
      // The kernel takes the larger of the two.
      if (Math.max(all, own) !== 1) continue;
      findings.push(
        found(strict, {
          subject: nameOf(attachment),
          what: `packets from ${prefix.addr} come in by ${arrival.name}, but the route back leads to ${leaving.name}`,
          consequence: 'The kernel drops what the container sends, without a word.',
          remedy: `correct the route to ${prefix.addr}, or sysctl -w net.ipv4.conf.${arrival.name}.rp_filter=2 (with all.rp_filter not 1)`,
          evidence: [`rp_filter: all ${all}, ${arrival.name} ${own}`],
        }),
      );
    }
  }
  return findings;
}

async function linkTowards({ host, links }: NodeView, address: Parameters<typeof host.routes.lookup>[0]) {
  try {
    const { link } = await host.routes.lookup(address);
    return links.find(({ index }) => index === link);
  } catch {
    // That there is no route is told by the walk.
    return undefined;
  }
}

async function bridged(view: NodeView): Promise<readonly Finding[]> {
  const shared = Map.groupBy(
    view.pods.flatMap(({ hostLink }) => hostLink?.master ?? []),
    (bridge) => bridge,
  );
  const bridge = [...shared].find(([, ports]) => ports.length > 1)?.[0];
  if (bridge === undefined) return [];
  const chains = await view.ruleset.allChains();
  if (
    !chains.some(({ table, name, family }) => table === 'nat' && family === 'ip' && name === 'KUBE-SERVICES')
  )
    return [];
  const name = 'net/bridge/bridge-nf-call-iptables';
  const value = await view.sysctl(name);
  if (value === '1') return [];
  const bridgeName = view.links.find(({ index }) => index === bridge)?.name ?? String(bridge);
  return [
    found(bridgeNf, {
      subject: bridgeName,
      what: value === undefined ? 'br_netfilter is not loaded' : 'net.bridge.bridge-nf-call-iptables is 0',
      consequence: `A pod on ${bridgeName} that calls a service, and is served by a pod on the same bridge, gets no answer.`,
      remedy:
        'load the module and switch it on; write the same into files of /etc/modules-load.d and /etc/sysctl.d, so that it stays',
      commands: [
        ...(value === undefined ? ['modprobe br_netfilter'] : []),
        'sysctl -w net.bridge.bridge-nf-call-iptables=1',
        'sysctl -w net.bridge.bridge-nf-call-ip6tables=1',
      ],
      evidence: ['kube-proxy keeps its services in iptables (chain KUBE-SERVICES)'],
    }),
  ];
}

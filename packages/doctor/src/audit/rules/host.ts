/** What the host does with the packets of a network. */
import { type AuditRule, networkRule } from '../audit-rule.ts';
import { nameOf } from '../model/network.ts';
import { isRouted, memberPath, rangesOf } from '../model/ranges.ts';

const forwardingOff = networkRule({
  id: 'host/forwarding-off',
  title: 'A network that needs forwarding on a host that does not forward',
  severity: 'warning',
  explains:
    'Packets leave a node only when the kernel forwards them (`net.ipv4.ip_forward`, `net.ipv6.conf.all.forwarding`). bridge as a gateway and ptp switch it on with the first container, others rely on it. Whatever resets it later (a sysctl file, a network manager) cuts all containers off. Looked at only on the machine itself.',
  *check(network, { host }) {
    if (host === undefined || network.startedBy !== undefined) return;
    const isCluster = network.parts.some(({ known }) => known?.isCluster === true);
    for (const family of families(network, isCluster)) {
      const isOn = family === 4 ? host.forwarding.ipv4 : host.forwarding.ipv6;
      if (isOn !== false) continue;
      const switchesOn = network.parts.some((part) => isRouted(part));
      const range = rangesOf(network).find(({ subnet }) => subnet.family === family);
      const sysctl = family === 4 ? 'net.ipv4.ip_forward' : 'net.ipv6.conf.all.forwarding';
      const losesRoute = family === 6 && host.routes.some(({ isAdvertised }) => isAdvertised === true);
      if (switchesOn && !losesRoute && family === 4) continue;
      const [first] = network.parts;
      yield {
        ...(switchesOn && !losesRoute && { severity: 'note' as const }),
        place:
          range !== undefined
            ? range.part.document.place(memberPath(range, 'subnet'))
            : network.document.place(first?.path ?? []),
        what: `${nameOf(network)} has IPv${family} addresses, and ${sysctl} is 0`,
        consequence: losesRoute
          ? 'When forwarding is switched on, the host no longer takes its default route from router advertisements, and loses IPv6.'
          : switchesOn
            ? 'The first container switches it on.'
            : 'Containers reach nothing beyond this node.',
        remedy: losesRoute
          ? 'Set net.ipv6.conf.<link>.accept_ra to 2 for the link of the default route, and forwarding to 1, in /etc/sysctl.d.'
          : `Set ${sysctl} to 1 in /etc/sysctl.d.`,
      };
    }
  },
});

const ipv6Disabled = networkRule({
  id: 'host/ipv6-disabled',
  title: 'IPv6 addresses on a host without IPv6',
  severity: 'warning',
  explains:
    'IPv6 is switched off for new links (`net.ipv6.conf.all.disable_ipv6` or `…default…`). Plugins that do not switch it on for the interface fail with a bare "permission denied". Looked at only on the machine itself.',
  *check(network, { host }) {
    if (host?.ipv6Disabled !== true) return;
    const range = rangesOf(network).find(({ subnet }) => subnet.family === 6);
    if (range === undefined) return;
    yield {
      place: range.part.document.place(memberPath(range, 'subnet')),
      what: `${nameOf(network)} has IPv6 addresses, and IPv6 is switched off on this host`,
      consequence: 'Attaching fails with "permission denied", or the container has no IPv6.',
      remedy:
        'Set net.ipv6.conf.all.disable_ipv6 and net.ipv6.conf.default.disable_ipv6 to 0, or remove the IPv6 range.',
    };
  },
});

const noMaster = networkRule({
  id: 'host/no-master',
  title: 'A link that is not there',
  severity: 'error',
  explains:
    'macvlan, ipvlan and vlan put interfaces on a link of the host, and the one that is named does not exist. Looked at only on the machine itself.',
  *check(network, { host }) {
    if (host === undefined) return;
    for (const { document, path, raw, type = '' } of network.parts) {
      const master = raw['master'];
      if (!['macvlan', 'ipvlan', 'vlan'].includes(type) || typeof master !== 'string' || master === '')
        continue;
      if (raw['linkInContainer'] === true || host.links.some(({ name }) => name === master)) continue;
      yield {
        place: document.place([...path, 'master']),
        what: `there is no link ${master} on this host`,
        consequence: `Every attachment to ${nameOf(network)} fails: "failed to lookup master".`,
        remedy: `Name one of ${some(host.links.map(({ name }) => name).filter((name) => name !== 'lo'))}.`,
      };
    }
  },
});

/** Rules on the host, the likeliest first. */
export const HOST_RULES: readonly AuditRule[] = [noMaster, forwardingOff, ipv6Disabled];

function families(network: Parameters<typeof rangesOf>[0], isCluster: boolean): readonly (4 | 6)[] {
  const own = new Set(
    rangesOf(network)
      .filter(({ part }) => isRouted(part) || isCluster)
      .map(({ subnet }) => subnet.family),
  );
  // A cluster's network whose addresses are not in the file has IPv4 in all likelihood, and IPv6 perhaps.
  if (own.size === 0 && isCluster) own.add(4);
  return [...own];
}

function some(names: readonly string[]): string {
  return names.length > 5 ? `${names.slice(0, 5).join(', ')}, …` : names.join(', ');
}

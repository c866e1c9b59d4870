/** Addresses that somebody else has, too. */
import { Prefix } from '@heddle/netaddr';
import { type AuditRule, networkRule, subjectRule } from '../audit-rule.ts';
import { collidingGroups } from '../model/colliding.ts';
import { nameOf } from '../model/network.ts';
import {
  boundsOf,
  bridgeOf,
  capacityOf,
  gatewayOf,
  isRouted,
  memberPath,
  type Range,
  rangesOf,
  setsOf,
} from '../model/ranges.ts';
import { selectFor } from '../model/selection.ts';

const networks = subjectRule({
  id: 'overlap/networks',
  title: 'Two networks with the same addresses',
  severity: 'error',
  explains:
    'Each network keeps reservations of its own, so two that share addresses give one out twice; and the host can route a subnet to one bridge only. Networks of layer 2 on different links may share a subnet, and such on one link may share it when their ranges are parted.',
  *check({ networks: all }) {
    for (const group of collidingGroups(all)) {
      const [earliest, next] = group;
      if (earliest === undefined || next === undefined) continue;
      const owners = new Set(group.map(({ network }) => network));
      yield {
        place: placeOf(next),
        what:
          group.length === 2
            ? `${next.subnet.masked()} of ${nameOf(next.network)} overlaps ${earliest.subnet.masked()} of ${nameOf(earliest.network)} (${earliest.network.file.path})`
            : `${owners.size} networks share addresses of ${widest(group)}`,
        consequence: isOneRouteFor(group)
          ? 'The host routes the shared addresses to one of them; containers of the others are not reachable.'
          : 'One address is given to several containers.',
        remedy: isOneRouteFor(group)
          ? 'Give each a subnet of its own.'
          : 'Give each a subnet of its own, or part their ranges with "rangeStart" and "rangeEnd".',
        ...(group.length > 2 && { evidence: group.map(lineOf) }),
      };
    }
  },
});

/** Whether the host would need a route to the same addresses by several links. */
function isOneRouteFor(group: readonly Range[]): boolean {
  const routed = group.filter(({ part }) => isRouted(part));
  return new Set(routed.map(({ part }) => bridgeOf(part) ?? part)).size > 1;
}

function placeOf(range: Range) {
  return range.part.document.place(memberPath(range, 'subnet'));
}

function widest(group: readonly Range[]): string {
  const [first] = group.toSorted((a, b) => a.subnet.bits - b.subnet.bits);
  return `${first?.subnet.masked()}`;
}

function lineOf(range: Range): string {
  const { file, line } = placeOf(range);
  return `${file}:${line}: ${range.subnet.masked()} of ${nameOf(range.network)}`;
}

const services = networkRule({
  id: 'overlap/services',
  title: 'A subnet in the range of services',
  severity: 'error',
  explains:
    'Addresses of services are translated on every node, so a container with one of them is not reachable. Told when the range is known (`--service-cidr`).',
  *check(network, { options: { serviceCidrs = [] } }) {
    for (const range of rangesOf(network)) {
      const hit = serviceCidrs.find((cidr) => cidr.overlaps(range.subnet));
      if (hit === undefined) continue;
      yield {
        place: range.part.document.place(memberPath(range, 'subnet')),
        what: `${range.subnet.masked()} overlaps the service range ${hit}`,
        consequence: 'Packets to such containers are taken for packets to services, and the other way round.',
        remedy: 'Use another subnet.',
      };
    }
  },
});

const nodes = networkRule({
  id: 'overlap/nodes',
  title: 'A subnet with addresses of nodes',
  severity: 'error',
  explains:
    'A node whose address lies in a subnet of containers is not reachable from them, nor they from it. Told for the addresses that are named (`--node-address`).',
  *check(network, { options: { nodeAddresses = [] } }) {
    for (const range of rangesOf(network)) {
      const space = isRouted(range.part) ? [range.subnet.masked()] : (boundsOf(range)?.toPrefixes() ?? []);
      const hit = nodeAddresses
        .map((node) => (node instanceof Prefix ? node : Prefix.host(node)))
        .find((node) => space.some((prefix) => prefix.overlaps(node)));
      if (hit === undefined) continue;
      yield {
        place: range.part.document.place(memberPath(range, 'subnet')),
        what: `${range.subnet.masked()} has the node address ${hit.isSingle ? hit.addr : hit}`,
        consequence: 'Containers and that node cannot reach each other.',
        remedy: isRouted(range.part)
          ? 'Use another subnet.'
          : 'Leave the addresses of nodes out with "rangeStart" and "rangeEnd".',
      };
    }
  },
});

const hostRoutes = networkRule({
  id: 'overlap/host-routes',
  title: 'A subnet that the host routes elsewhere',
  severity: 'warning',
  explains:
    "The host has a route to the subnet, or to a part of it, by a link that is not the network's: a LAN, a VPN, the bridge of something else. One of the two becomes unreachable. Looked at only on the machine itself.",
  *check(network, { host, networks: all }) {
    if (host === undefined) return;
    const bridges = new Set(all.flatMap(({ parts }) => parts.flatMap((part) => bridgeOf(part) ?? [])));
    for (const range of rangesOf(network)) {
      if (!isRouted(range.part)) continue;
      const hit = host.routes.find(({ destination, device, gateway }) => {
        if (bridges.has(device) || destination.bits === 0 || destination.isSingle) return false;
        if (range.subnet.containsPrefix(destination)) return true;
        // A wider route by a gateway gives way to the network's own; a wider link does not: its hosts are hidden.
        return gateway === undefined && destination.containsPrefix(range.subnet);
      });
      if (hit === undefined) continue;
      const by = hit.gateway === undefined ? `on ${hit.device}` : `by ${hit.gateway} on ${hit.device}`;
      yield {
        place: range.part.document.place(memberPath(range, 'subnet')),
        what: `the host routes ${hit.destination} ${by}, and ${nameOf(network)} has ${range.subnet.masked()}`,
        consequence: `Either containers or what is behind ${hit.device} cannot be reached.`,
        remedy: 'Use a subnet that the host does not know.',
      };
    }
  },
});

const hostAddresses = networkRule({
  id: 'overlap/host-addresses',
  title: 'A range with an address of this host',
  severity: 'error',
  explains:
    'An address of the host is among those that are given to containers, so sooner or later two have it. Looked at only on the machine itself.',
  *check(network, { host }) {
    if (host === undefined) return;
    for (const range of rangesOf(network)) {
      const bounds = boundsOf(range);
      const gateway = gatewayOf(range);
      const bridge = bridgeOf(range.part);
      const hit = host.addresses.find(
        ({ prefix, device }) =>
          device !== bridge &&
          bounds?.contains(prefix.addr) === true &&
          !(isRouted(range.part) && gateway?.equals(prefix.addr)),
      );
      if (hit === undefined) continue;
      yield {
        place: range.part.document.place(memberPath(range, 'subnet')),
        what: `${hit.prefix.addr} of ${hit.device} is in the range ${bounds}`,
        consequence: 'A container gets the address of the host.',
        remedy: 'Leave it out with "rangeStart" and "rangeEnd", or use another subnet.',
      };
    }
  },
});

const fewerThanPods = subjectRule({
  id: 'address/fewer-than-pods',
  title: 'Fewer addresses than Pods',
  severity: 'error',
  explains:
    'Each Pod needs an address of each range set; addresses of Pods that have ended come back late, so a few more are needed than Pods. Told when the limit of Pods is known (`--max-pods`), for the network that Pods get.',
  *check({ networks: all, directories, options: { maxPods } }) {
    if (maxPods === undefined) return;
    const chosen = directories.map((directory) => selectFor('crio', directory).chosen);
    const listed = new Set(directories.flatMap(({ files }) => files));
    for (const network of all) {
      if (listed.has(network.file) && !chosen.includes(network.file)) continue;
      for (const set of setsOf(network)) {
        const [first] = set;
        const capacity = set.reduce((sum, range) => sum + (capacityOf(range) ?? 0n), 0n);
        if (first === undefined || capacity >= BigInt(maxPods)) continue;
        yield {
          place: first.part.document.place(memberPath(first, 'subnet')),
          what: `${set.map(({ subnet }) => subnet.masked()).join(' and ')} has ${capacity} addresses for ${maxPods} Pods`,
          consequence: 'The last Pods stay in ContainerCreating: "no IP addresses available in range set".',
          remedy: 'Use a larger subnet, or lower the limit of Pods.',
        };
      }
    }
  },
});

/** Rules on overlaps and sizes, the likeliest first. */
export const OVERLAP_RULES: readonly AuditRule[] = [
  networks,
  fewerThanPods,
  services,
  nodes,
  hostAddresses,
  hostRoutes,
];

import type { Prefix } from '@heddle/netaddr';
import { type AuditRule, networkRule } from '../audit-rule.ts';
import type { Network, PluginPart } from '../model/network.ts';
import { isOn, member, nameOf } from '../model/network.ts';
import { gatewayOf, isRouted, memberPath, rangesOf, routesOf } from '../model/ranges.ts';

const gatewayOutside = networkRule({
  id: 'address/gateway-outside',
  title: 'A gateway outside of the subnet',
  severity: 'warning',
  explains:
    'Recent releases of the reference host-local refuse a gateway that is not in the subnet (1.10.0 does, a link-local one of IPv6 included; 1.1.1 does not, and IPv4 routes by it fail then). Heddle reaches such a gateway by a route of its own, for providers do hand them out. One of the other family works nowhere.',
  *check(network) {
    for (const range of rangesOf(network)) {
      const { gateway, subnet, part } = range;
      if (gateway === undefined || subnet.contains(gateway)) continue;
      const isOtherFamily = gateway.family !== subnet.family;
      yield {
        ...(isOtherFamily && { severity: 'error' as const }),
        ...(!isOtherFamily && gateway.family === 6 && { severity: 'note' as const }),
        place: part.document.place(memberPath(range, 'gateway')),
        what: `the gateway ${gateway} is not in ${subnet.masked()}`,
        consequence: isOtherFamily
          ? 'Every attachment fails: it is of the other family.'
          : `Recent releases of the reference host-local refuse it: "gateway ${gateway} not in network". Heddle's does not.`,
        remedy: `Write an address of ${subnet.masked()}, or leave "gateway" out for ${subnet.network.next() ?? subnet.network}.`,
      };
    }
  },
});

const gatewayReserved = networkRule({
  id: 'address/gateway-reserved',
  title: 'A gateway that is no host',
  severity: 'error',
  explains:
    'The gateway is the broadcast address of the subnet, which no host can have; or the address of the network itself, which kernels before 5.14 take for a broadcast, too.',
  *check(network) {
    for (const range of rangesOf(network)) {
      const { gateway, subnet } = range;
      if (gateway === undefined || subnet.broadcast === undefined) continue;
      if (!gateway.equals(subnet.network) && !gateway.equals(subnet.broadcast)) continue;
      const isNetwork = gateway.equals(subnet.network);
      yield {
        ...(isNetwork && { severity: 'warning' as const }),
        place: range.part.document.place(memberPath(range, 'gateway')),
        what: `the gateway ${gateway} is the ${isNetwork ? 'network' : 'broadcast'} address of ${subnet.masked()}`,
        consequence: isNetwork
          ? 'With older kernels containers cannot reach anything beyond their subnet.'
          : 'Containers cannot reach anything beyond their subnet.',
        remedy: `Write another address of ${subnet.masked()}.`,
      };
    }
  },
});

const noDefaultRoute = networkRule({
  id: 'address/no-default-route',
  title: 'Masquerading without a way out',
  severity: 'warning',
  explains:
    '`ipMasq` lets containers reach the world with the address of the host; without a default route they never get that far. A route 0.0.0.0/0 (and ::/0) in `ipam.routes`, or `isDefaultGateway` of bridge, gives them one.',
  *check(network) {
    for (const part of network.parts) {
      if (!isRouted(part) || !isOn(part.raw, 'ipMasq') || isOn(part.raw, 'isDefaultGateway')) continue;
      for (const family of new Set(rangesOf(network).map(({ subnet }) => subnet.family))) {
        const reaches = routesOf(part).some(
          ({ destination }) => destination.family === family && destination.bits <= 1,
        );
        if (reaches || routesOf(part).some(({ destination }) => destination.family === family)) continue;
        yield {
          place: part.document.place([...part.path, member(part.raw, 'ipMasq')?.[0] ?? 'ipMasq']),
          what: `${nameOf(network)} masquerades, but its containers have no IPv${family} route out`,
          consequence: 'Containers reach their own subnet only.',
          remedy: `Add "routes": [{"dst": "${family === 4 ? '0.0.0.0/0' : '::/0'}"}] to "ipam"${part.type === 'bridge' ? ', or "isDefaultGateway": true' : ''}.`,
        };
      }
    }
  },
});

const routeGateway = networkRule({
  id: 'address/route-gateway',
  title: 'A route by a gateway out of reach',
  severity: 'warning',
  explains:
    "A route's `gw` is an address that the container reaches directly: one of its subnets. One of the other family is refused.",
  *check(network) {
    for (const part of network.parts) {
      const subnets = subnetsOf(network, part);
      for (const { destination, gateway, path, object } of routesOf(part)) {
        if (gateway === undefined || gateway.isLinkLocal) continue;
        const isOtherFamily = gateway.family !== destination.family;
        const isReachable = subnets.length === 0 || subnets.some((subnet) => subnet.contains(gateway));
        const isKnownOtherwise = rangesOf(network).some((range) => gatewayOf(range)?.equals(gateway));
        if (!isOtherFamily && (isReachable || isKnownOtherwise || gateway.family === 6)) continue;
        yield {
          ...(isOtherFamily && { severity: 'error' as const }),
          ...(!isOtherFamily && gateway.family === 6 && { severity: 'note' as const }),
          place: part.document.place([...path, member(object, 'gw')?.[0] ?? 'gw']),
          what: isOtherFamily
            ? `the route to ${destination} goes by ${gateway}, which is of the other family`
            : `the route to ${destination} goes by ${gateway}, which is in none of the network's subnets`,
          consequence: 'The kernel refuses the route, and the attachment fails: "network is unreachable".',
          remedy: 'Write a gateway of the subnet, or leave "gw" out for the gateway of the range.',
        };
      }
    }
  },
});

function subnetsOf(network: Network, part: PluginPart): readonly Prefix[] {
  return rangesOf(network)
    .filter((range) => range.part === part)
    .map(({ subnet }) => subnet);
}

/** Rules on gateways and routes, the likeliest first. */
export const GATEWAY_RULES: readonly AuditRule[] = [
  gatewayReserved,
  gatewayOutside,
  routeGateway,
  noDefaultRoute,
];

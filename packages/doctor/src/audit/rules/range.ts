/** Ranges of addresses, each by itself. */

import { isJsonObject } from '@heddle/cni';
import { Addr, type Prefix } from '@heddle/netaddr';
import { type AuditRule, networkRule, partRule } from '../audit-rule.ts';
import { listMember, member, textMember } from '../model/network.ts';
import { boundsOf, capacityOf, firstHost, lastHost, memberPath, rangesOf, setsOf } from '../model/ranges.ts';

const noRange = partRule({
  id: 'address/no-range',
  title: 'host-local without a range',
  severity: 'error',
  explains:
    'host-local needs `subnet`, or `ranges`, unless the runtime passes ranges (capability `ipRanges`) or the plugin that calls it fills them in (Calico, Antrea, flannel).',
  *check({ document, ipam, ipamPath, ipamType, known, capabilities }) {
    if (ipamType !== 'host-local' || ipam === undefined || capabilities.includes('ipRanges')) return;
    if (known === undefined || known.addresses !== 'delegate') return;
    const ranges = listMember(ipam, 'ranges');
    if (member(ipam, 'subnet') !== undefined || (ranges !== undefined && ranges.length > 0)) return;
    yield {
      place: document.place(ipamPath),
      what: 'host-local has no range to give addresses of',
      consequence: 'Every attachment fails: "no IP ranges specified".',
      remedy: 'Add "subnet", or "ranges": [[{"subnet": …}]].',
    };
  },
});

const hostBits = networkRule({
  id: 'address/host-bits',
  title: 'A subnet with host bits',
  severity: 'error',
  fixable: true,
  explains:
    'A subnet is written with its first address: 10.1.2.0/24, not 10.1.2.3/24. host-local refuses the other form.',
  *check(network) {
    for (const range of rangesOf(network)) {
      if (!range.subnet.hasHostBits) continue;
      const at = memberPath(range, 'subnet');
      const node = range.part.document.node(at);
      const masked = `${range.subnet.masked()}`;
      yield {
        place: range.part.document.place(at),
        what: `${range.subnet} is an address in ${masked}, not a subnet`,
        consequence: 'Every attachment fails: "Network has host bits set".',
        remedy: `Write "${masked}".`,
        ...(node !== undefined && {
          fix: {
            what: `write ${masked}`,
            edits: [
              {
                file: range.part.document.path,
                offset: node.offset,
                length: node.length,
                text: JSON.stringify(masked),
              },
            ],
          },
        }),
      };
    }
  },
});

const outside = networkRule({
  id: 'address/range-outside',
  title: 'A range outside of its subnet',
  severity: 'error',
  explains: '`rangeStart` and `rangeEnd` are addresses of the subnet they stand beside.',
  *check(network) {
    for (const range of rangesOf(network)) {
      for (const [name, addr] of [
        ['rangeStart', range.start],
        ['rangeEnd', range.end],
      ] as const) {
        if (addr === undefined || range.subnet.contains(addr)) continue;
        yield {
          place: range.part.document.place(memberPath(range, name)),
          what: `${name} ${addr} is not in ${range.subnet.masked()}`,
          consequence: `Every attachment fails: "${name === 'rangeStart' ? 'RangeStart' : 'RangeEnd'} ${addr} not in network".`,
          remedy: `Write an address of ${range.subnet.masked()}.`,
        };
      }
    }
  },
});

const reversed = networkRule({
  id: 'address/range-reversed',
  title: 'A range that ends before it begins',
  severity: 'error',
  explains:
    'The start of a range comes after its end. Where one of the two is not given, the first or the last host of the subnet stands for it.',
  *check(network) {
    for (const range of rangesOf(network)) {
      const { subnet } = range;
      const start = range.start ?? firstHost(subnet);
      const end = range.end ?? lastHost(subnet);
      if (!subnet.contains(start) || !subnet.contains(end) || Addr.compare(start, end) <= 0) continue;
      const [written, remedy] =
        range.start === undefined
          ? ['rangeEnd', 'Raise "rangeEnd".']
          : [
              'rangeStart',
              range.end === undefined ? 'Lower "rangeStart".' : 'Exchange "rangeStart" and "rangeEnd".',
            ];
      yield {
        place: range.part.document.place(memberPath(range, written)),
        what: `the range begins at ${start} and ends at ${end}`,
        consequence: 'Every attachment fails.',
        remedy,
      };
    }
  },
});

const emptyRange = networkRule({
  id: 'address/empty-range',
  title: 'A range without an address to give',
  severity: 'error',
  explains:
    'The only addresses of a range set are gateways, which are never given. Told of whole sets: another range of the set may have some.',
  *check(network) {
    for (const [first, ...others] of setsOf(network)) {
      const set = first === undefined ? [] : [first, ...others];
      if (first === undefined || set.some((range) => capacityOf(range) !== 0n)) continue;
      yield {
        place: first.part.document.place(memberPath(first, 'subnet')),
        what: `${set.map((range) => `${boundsOf(range)}`).join(' and ')} has no address besides the gateway`,
        consequence: 'Every attachment fails: "no IP addresses available in range set".',
        remedy: 'Widen the range, or name another gateway.',
      };
    }
  },
});

const reservedBound = networkRule({
  id: 'address/range-boundary',
  title: 'A range with the address of the network or the broadcast',
  severity: 'error',
  explains:
    "The first and the last address of an IPv4 subnet are no host's. The reference host-local gives them out when a range names them; containers with them are not reachable. Heddle refuses such a range.",
  *check(network) {
    for (const range of rangesOf(network)) {
      const { broadcast, network: first } = range.subnet;
      if (broadcast === undefined) continue;
      for (const [name, addr] of [
        ['rangeStart', range.start],
        ['rangeEnd', range.end],
      ] as const) {
        if (addr === undefined || !(addr.equals(broadcast) || addr.equals(first))) continue;
        yield {
          place: range.part.document.place(memberPath(range, name)),
          what: `${name} ${addr} is the ${addr.equals(first) ? 'network' : 'broadcast'} address of ${range.subnet.masked()}`,
          consequence: 'A container that gets it is not reachable, or the plugin refuses the range.',
          remedy: `Begin after ${first}, and end before ${broadcast}.`,
        };
      }
    }
  },
});

const tooSmall = networkRule({
  id: 'address/subnet-too-small',
  title: 'A subnet that is too small for the reference',
  severity: 'warning',
  explains:
    "The reference host-local refuses subnets smaller than /30 and /126. Heddle's takes both addresses of a /31 or /127 as hosts', and the one of a /32 or /128.",
  *check(network) {
    for (const range of rangesOf(network)) {
      if (range.subnet.addr.bits - range.subnet.bits >= 2) continue;
      yield {
        place: range.part.document.place(memberPath(range, 'subnet')),
        what: `${range.subnet} has ${range.subnet.size() === 1n ? 'one address' : 'two addresses'}`,
        consequence: 'The reference host-local refuses it: "too small to allocate from".',
        remedy: `Use a /${range.subnet.family === 4 ? 30 : 126} or larger, or Heddle's host-local.`,
      };
    }
  },
});

const specialSubnet = networkRule({
  id: 'address/special-subnet',
  title: "A subnet that is no one's to use",
  severity: 'error',
  explains:
    'Loopback, multicast and the unspecified address cannot be addresses of containers: the kernel drops their packets. A subnet with 169.254.169.254 in it hides the metadata service of clouds.',
  *check(network) {
    for (const range of rangesOf(network)) {
      const why = special(range.subnet);
      if (why === undefined) continue;
      const hidesMetadata = why === METADATA;
      yield {
        ...(hidesMetadata && { severity: 'warning' as const }),
        place: range.part.document.place(memberPath(range, 'subnet')),
        what: `${range.subnet.masked()} is ${why}`,
        consequence: hidesMetadata
          ? 'What runs on this node does not reach the metadata service of its cloud.'
          : 'The kernel drops packets of such addresses.',
        remedy: 'Use a private subnet: of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or fd00::/8.',
      };
    }
  },
});

const METADATA = 'the home of 169.254.169.254';

const rangesOverlap = networkRule({
  id: 'address/ranges-overlap',
  title: 'Ranges of one network that overlap',
  severity: 'error',
  explains:
    'Ranges of one network must not share addresses, neither in one set nor in different sets. host-local refuses them.',
  *check(network) {
    const ranges = rangesOf(network);
    for (const [index, range] of ranges.entries()) {
      const own = boundsOf(range);
      const other = ranges
        .slice(0, index)
        .find((each) => own !== undefined && (boundsOf(each)?.overlaps(own) ?? false));
      if (own === undefined || other === undefined || other.part !== range.part) continue;
      yield {
        place: range.part.document.place(memberPath(range, 'subnet')),
        what: `the range ${own} overlaps ${boundsOf(other)}`,
        consequence: 'Every attachment fails: the plugin refuses overlapping ranges.',
        remedy: 'Part the ranges.',
      };
    }
  },
});

const mixedSet = networkRule({
  id: 'address/mixed-set',
  title: 'IPv4 and IPv6 in one range set',
  severity: 'error',
  explains:
    'A container gets one address of each set, so a set is of one family. For dual stack write two sets: `"ranges": [[{IPv4}], [{IPv6}]]`.',
  *check(network) {
    for (const set of setsOf(network)) {
      const [first] = set;
      const other = set.find(({ subnet }) => subnet.family !== first?.subnet.family);
      if (first === undefined || other === undefined) continue;
      yield {
        place: other.part.document.place(memberPath(other, 'subnet')),
        what: `${other.subnet} is in a set with ${first.subnet}`,
        consequence: 'Every attachment fails: the plugin refuses a set of two families.',
        remedy: 'Make it a set of its own: "ranges": [[…], [{"subnet": …}]].',
      };
    }
  },
});

const staticAddress = partRule({
  id: 'address/static-without-prefix',
  title: 'A static address without a prefix length',
  severity: 'error',
  explains:
    'static wants addresses with the length of their prefix: 192.0.2.10/24. Without it every attachment fails.',
  *check({ document, ipam, ipamPath, ipamType }) {
    if (ipamType !== 'static' || ipam === undefined) return;
    for (const [index, each] of (listMember(ipam, 'addresses') ?? []).entries()) {
      if (!isJsonObject(each)) continue;
      const address = textMember(each, 'address');
      if (address === undefined || Addr.tryParse(address) === undefined) continue;
      yield {
        place: document.place([...ipamPath, 'addresses', index, 'address']),
        what: `${address} has no prefix length`,
        consequence: 'Every attachment fails: the address "is expected to be in CIDR notation".',
        remedy: `Write the length of its subnet, such as ${address}/${address.includes(':') ? 64 : 24}.`,
      };
    }
  },
});

/** Rules on ranges, the likeliest first. */
export const RANGE_RULES: readonly AuditRule[] = [
  ...[noRange, hostBits, outside, reversed, emptyRange, reservedBound, rangesOverlap, mixedSet],
  ...[staticAddress, specialSubnet, tooSmall],
];

function special(subnet: Prefix): string | undefined {
  const { addr } = subnet;
  if (addr.isLoopback) return 'the loopback range';
  if (addr.isMulticast) return 'a multicast range';
  if (addr.isUnspecified) return 'the unspecified range';
  return subnet.contains(Addr.parse('169.254.169.254')) ? METADATA : undefined;
}

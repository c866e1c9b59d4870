/**
 * One range of addresses to give out: part of a subnet, or all of it.
 *
 * Defaults are the reference's: the gateway is the first address after the network's, and the range reaches
 * from there to the last address that a host can have. Networks without room for that are treated as their
 * RFCs ask: both addresses of a /31 (RFC 3021) or /127 (RFC 6164) are ordinary hosts', the first of them the
 * gateway's by default; a /32 or /128 is one host's address, without a gateway.
 */
import { Addr, AddrRange, type Prefix } from '@heddle/netaddr';
import { IpamError } from './ipam-error.ts';

/** A range as configured. */
export interface RangeConfig {
  /** The subnet that addresses belong to; host bits must be zero. */
  readonly subnet: Prefix;
  /** The first address to give out. */
  readonly rangeStart?: Addr;
  /** The last address to give out. */
  readonly rangeEnd?: Addr;
  /** The subnet's gateway, which is never given out; it may lie outside of the subnet. */
  readonly gateway?: Addr;
}

/** A range with every default filled in. */
export interface Range {
  readonly subnet: Prefix;
  /** The addresses to give out, the gateway's included if it lies among them. */
  readonly addresses: AddrRange;
  readonly gateway?: Addr;
}

/**
 * Fills in the defaults of a range and checks it.
 *
 * @throws {IpamError} IPAM_RANGE_INVALID: host bits, bounds outside of the subnet or in the wrong order, or
 *   a bound at the network or broadcast address of an IPv4 subnet
 * @example
 * const range = resolveRange({ subnet: Prefix.parse('10.1.2.0/24') });
 * `${range.addresses}`; // '10.1.2.1-10.1.2.254'
 * `${range.gateway}`;   // '10.1.2.1'
 */
export function resolveRange(config: RangeConfig): Range {
  const { subnet } = config;
  if (subnet.hasHostBits) {
    throw invalidRange(
      `Network has host bits set. For a subnet mask of length ${subnet.bits} the network address is ${subnet.network}`,
    );
  }
  const first = config.rangeStart ?? firstHost(subnet);
  const last = config.rangeEnd ?? lastHost(subnet);
  if (!subnet.contains(first)) throw invalidRange(`RangeStart ${first} not in network ${subnet}`);
  if (!subnet.contains(last)) throw invalidRange(`RangeEnd ${last} not in network ${subnet}`);
  if (Addr.compare(first, last) > 0) {
    // The reference reports it as a start outside of what the end leaves.
    throw invalidRange(
      `RangeStart ${first} not in network ${subnet}`,
      `it comes after the range's end ${last}`,
    );
  }
  refuseReserved('RangeStart', first, subnet);
  refuseReserved('RangeEnd', last, subnet);
  const gateway = config.gateway ?? defaultGateway(subnet);
  return { subnet, addresses: AddrRange.of(first, last), ...(gateway !== undefined && { gateway }) };
}

/** How many addresses a range can give out. */
export function capacity({ addresses, gateway }: Range): bigint {
  const withheld = gateway !== undefined && addresses.contains(gateway) ? 1n : 0n;
  return addresses.size() - withheld;
}

/** Whether every address of the subnet is an ordinary host's: there are at most two. */
function isTiny(subnet: Prefix): boolean {
  return subnet.size() <= 2n;
}

function firstHost(subnet: Prefix): Addr {
  return isTiny(subnet) ? subnet.network : (subnet.network.next() ?? subnet.network);
}

function lastHost(subnet: Prefix): Addr {
  return subnet.broadcast?.prev() ?? subnet.last;
}

function defaultGateway(subnet: Prefix): Addr | undefined {
  return subnet.isSingle ? undefined : firstHost(subnet);
}

/** No host can use an IPv4 subnet's own two addresses. IPv6 has no broadcast, and its first is an anycast. */
function refuseReserved(bound: string, addr: Addr, subnet: Prefix): void {
  if (subnet.broadcast === undefined) return;
  if (addr.equals(subnet.network)) throw invalidRange(`${bound} ${addr} is the network address of ${subnet}`);
  if (addr.equals(subnet.broadcast))
    throw invalidRange(`${bound} ${addr} is the broadcast address of ${subnet}`);
}

function invalidRange(message: string, hint?: string): IpamError {
  return new IpamError('IPAM_RANGE_INVALID', message, hint === undefined ? {} : { hint });
}

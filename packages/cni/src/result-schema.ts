/** The shapes of results as JSON has them. Addresses become canonical texts. */
import { Addr, Prefix } from '@heddle/netaddr';
import * as v from 'valibot';
import { cidr, dnsSchema, int, ip, routeSchema } from './schema.ts';

/**
 * The canonical text of an address: IPv6 compressed, an IPv4 address mapped into IPv6 as the IPv4 address.
 *
 * @throws {AddrError} when the text is no address.
 */
export function canonicalIp(text: string): string {
  return Addr.parse(text).unmap().toString();
}

/**
 * The canonical text of an address with prefix length; host bits are kept.
 *
 * @throws {AddrError} when the text is no such thing.
 * @example canonicalCidr('2001:DB8:0::1/64') // '2001:db8::1/64'
 */
export function canonicalCidr(text: string): string {
  const prefix = Prefix.parse(text);
  if (!prefix.addr.is4In6 || prefix.bits < MAPPED_BITS) return prefix.toString();
  return Prefix.of(prefix.addr.unmap(), prefix.bits - MAPPED_BITS).toString();
}

const MAPPED_BITS = 96;

const address = v.pipe(cidr(), v.transform(canonicalCidr));
const optionalIp = v.optional(
  v.pipe(
    ip(),
    v.transform((text) => (text === '' ? '' : canonicalIp(text))),
  ),
);
const route = v.object({ ...routeSchema.entries, dst: address, gw: optionalIp });
const routes = v.optional(v.array(route));
const dns = v.optional(dnsSchema);

const legacyIp = v.optional(v.object({ ip: address, gateway: optionalIp, routes }));

/** A result of 0.1.0 or 0.2.0. */
export const legacyResultSchema = v.object({ ip4: legacyIp, ip6: legacyIp, dns });

/** A result of 0.3.0 or later. */
export const resultSchema = v.object({
  interfaces: v.optional(
    v.array(
      v.object({
        name: v.optional(v.string(), ''),
        mac: v.optional(v.string()),
        mtu: v.optional(int()),
        sandbox: v.optional(v.string()),
        socketPath: v.optional(v.string()),
        pciID: v.optional(v.string()),
      }),
    ),
  ),
  ips: v.optional(
    v.array(
      v.object({
        version: v.optional(v.string()),
        address,
        gateway: optionalIp,
        interface: v.optional(int()),
      }),
    ),
  ),
  routes,
  dns,
});

/**
 * Building blocks for the configuration schemas of plugins: addresses, numbers and the specification's own
 * objects. All are plain valibot schemas whose values stay as JSON has them, so a JSON Schema can be
 * generated from each.
 *
 * Messages: one that begins with `expected ` is completed with the member's path and what is there; any
 * other custom message is shown as it is (see `decodeConfig`).
 */
import { Addr, Mac, Prefix } from '@heddle/netaddr';
import * as v from 'valibot';

/** Makes a message from the text that was refused. */
export type TextProblem = (text: string) => string;

/** An address with a prefix length, `10.1.2.3/24`. Host bits are kept. */
export function cidr(problem: TextProblem = (text) => `invalid CIDR address: ${text}`) {
  return v.pipe(
    v.string(),
    v.check(
      (text) => Prefix.tryParse(text) !== undefined,
      ({ input }) => problem(input),
    ),
    v.description('an IP address with a prefix length, such as 192.0.2.1/24 or 2001:db8::1/64'),
  );
}

/** An IP address. The empty text is allowed and means that none is set, as in the reference. */
export function ip(problem: TextProblem = (text) => `invalid IP address: ${text}`) {
  return v.pipe(
    v.string(),
    v.check(
      (text) => text === '' || Addr.tryParse(text) !== undefined,
      ({ input }) => problem(input),
    ),
    v.description('an IPv4 or IPv6 address'),
  );
}

/** A hardware address. The empty text is allowed and means that none is set. */
export function mac(problem: TextProblem = (text) => `invalid hardware address: ${text}`) {
  return v.pipe(
    v.string(),
    v.check(
      (text) => text === '' || Mac.tryParse(text) !== undefined,
      ({ input }) => problem(input),
    ),
    v.description('a hardware address, such as 02:00:00:00:00:01'),
  );
}

/**
 * A path of a file or directory. A relative one would depend on where the runtime happens to have been started,
 * so it is refused. The empty text is allowed and means that none is set.
 */
export function absolutePath() {
  const expected = 'expected an absolute path';
  return v.pipe(
    v.string(),
    v.check((text) => text === '' || (text.startsWith('/') && !text.includes('\0')), expected),
    v.description('an absolute path'),
  );
}

/** A whole number from `min` to `max`. */
export function int(min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER) {
  const expected = `expected an integer${rangeWords(min, max)}`;
  return v.pipe(
    v.number(expected),
    v.integer(expected),
    v.minValue(min, expected),
    v.maxValue(max, expected),
  );
}

/** A whole number from 0 to `max`. */
export function uint(max = Number.MAX_SAFE_INTEGER) {
  return int(0, max);
}

/** A whole number of 64 bits, for byte and bit rates; becomes a bigint. */
export function uint64() {
  const expected = 'expected an integer from 0 to 18446744073709551615';
  return v.pipe(v.bigint(expected), v.minValue(0n, expected), v.maxValue(2n ** 64n - 1n, expected));
}

/** `true` or `false`. */
export const bool = v.boolean();

/** The `dns` object of configurations and results. */
export const dnsSchema = v.object({
  nameservers: v.optional(v.array(v.string())),
  domain: v.optional(v.string()),
  search: v.optional(v.array(v.string())),
  options: v.optional(v.array(v.string())),
});

/** A member of `routes`. */
export const routeSchema = v.object({
  dst: cidr(),
  gw: v.optional(ip()),
  mtu: v.optional(int()),
  advmss: v.optional(int()),
  priority: v.optional(int()),
  table: v.optional(int()),
  scope: v.optional(int()),
});

/** The `ipam` object as the plugin that delegates sees it: it only needs to know whom to ask. */
export const ipamSchema = v.looseObject({ type: v.optional(v.string(), '') });

/** A member of `cni.dev/valid-attachments`. */
export const validAttachmentSchema = v.object({ containerID: v.string(), ifname: v.string() });

/** What every plugin's configuration may hold; the base of each plugin's own schema. */
export const pluginEntries = {
  cniVersion: v.optional(v.string(), ''),
  name: v.optional(v.string(), ''),
  type: v.optional(v.string(), ''),
  capabilities: v.optional(v.record(v.string(), v.boolean())),
  ipam: v.optional(ipamSchema),
  dns: v.optional(dnsSchema),
  prevResult: v.optional(v.looseObject({})),
};

function rangeWords(min: number, max: number): string {
  const low = min > Number.MIN_SAFE_INTEGER;
  const high = max < Number.MAX_SAFE_INTEGER;
  if (low && high) return ` from ${min} to ${max}`;
  if (low) return `, at least ${min}`;
  return high ? `, at most ${max}` : '';
}

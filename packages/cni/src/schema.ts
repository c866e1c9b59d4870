/**
 * Building blocks for the configuration schemas of plugins: addresses, numbers and the specification's own
 * objects. All are plain valibot schemas whose values stay as JSON has them, so a JSON Schema can be
 * generated from each. What a check of ours demands, the schema gets in words of its own, by `v.metadata`: a
 * validator of JSON Schemas knows nothing of our checks.
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
    cidrText(),
    v.check(
      (text) => Prefix.tryParse(text) !== undefined,
      ({ input }) => problem(input),
    ),
  );
}

/** An IP address. The empty text is allowed and means that none is set, as in the reference. */
export function ip(problem: TextProblem = (text) => `invalid IP address: ${text}`) {
  return v.pipe(
    ipText(),
    v.check(
      (text) => text === '' || Addr.tryParse(text) !== undefined,
      ({ input }) => problem(input),
    ),
  );
}

/** A hardware address. The empty text is allowed and means that none is set. */
export function mac(problem: TextProblem = (text) => `invalid hardware address: ${text}`) {
  return v.pipe(
    macText(),
    v.check(
      (text) => text === '' || Mac.tryParse(text) !== undefined,
      ({ input }) => problem(input),
    ),
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
    v.title('absolute path'),
    v.description('an absolute path'),
    v.metadata({ pattern: '^(/.*)?$' }),
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

/** A text that should be an address with a prefix length; whoever needs it judges. */
export function cidrText() {
  return v.pipe(
    v.string(),
    v.title('IP address/length'),
    v.description('an IP address with a prefix length, such as 192.0.2.1/24 or 2001:db8::1/64'),
    v.metadata({
      pattern: '^([0-9.]+/([12]?[0-9]|3[0-2])|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*/([0-9]{1,2}|1[01][0-9]|12[0-8]))$',
    }),
  );
}

/** A text that should be an IP address or empty; whoever needs it judges. */
export function ipText() {
  return v.pipe(
    v.string(),
    v.title('IP address'),
    v.description('an IPv4 or IPv6 address'),
    v.metadata({ anyOf: [{ const: '' }, { format: 'ipv4' }, { format: 'ipv6' }] }),
  );
}

/** A text that should be a hardware address or empty; whoever needs it judges. */
export function macText() {
  return v.pipe(
    v.string(),
    v.title('hardware address'),
    v.description('a hardware address, such as 02:00:00:00:00:01'),
    v.metadata({
      pattern: '^(|[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{4}(\\.[0-9A-Fa-f]{4}){2})$',
    }),
  );
}

/** `true` or `false`. */
export const bool = v.boolean();

/** The `dns` object of configurations and results. */
export const dnsSchema = v.pipe(
  v.object({
    nameservers: v.pipe(
      v.optional(v.array(v.string())),
      v.description('addresses of servers, the preferred first'),
    ),
    domain: v.pipe(v.optional(v.string()), v.description('the local domain')),
    search: v.pipe(v.optional(v.array(v.string())), v.description('domains to look up short names in')),
    options: v.pipe(v.optional(v.array(v.string())), v.description('options as resolv.conf(5) has them')),
  }),
  v.description('name resolution, as the result tells the runtime'),
);

/** A member of `routes`. */
export const routeSchema = v.pipe(
  v.object({
    dst: v.pipe(cidr(), v.description('where it leads; 0.0.0.0/0 and ::/0 are the default routes')),
    gw: v.pipe(v.optional(ip()), v.description('by which gateway; that of the address when there is none')),
    mtu: v.pipe(v.optional(int()), v.description('what a packet may measure on the way')),
    advmss: v.pipe(v.optional(int()), v.description('the segment size that TCP tells its peers')),
    priority: v.pipe(v.optional(int()), v.description('its metric: of several the lowest counts')),
    table: v.pipe(v.optional(int()), v.description('in which routing table; in the main one unless set')),
    scope: v.pipe(v.optional(int()), v.description('0: anywhere, 253: on the link, 254: on the host')),
  }),
  v.description('a route of the container'),
);

/** The `ipam` object as the plugin that delegates sees it: it only needs to know whom to ask. */
export const ipamSchema = v.pipe(
  v.looseObject({
    type: v.pipe(v.optional(v.string(), ''), v.description('the plugin that gives the addresses')),
  }),
  v.description('address management: its members are for the plugin that it names'),
);

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

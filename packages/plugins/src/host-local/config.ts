/** The configuration of host-local: its schema, and what its parts come to together. */
import {
  absolutePath,
  bool,
  ConfigError,
  canonicalCidr,
  canonicalIp,
  cidr,
  ip,
  routeSchema,
} from '@heddle/cni';
import { DEFAULT_DATA_DIR, familyOf, type RangeConfig, type RangeSet, resolveRangeSets } from '@heddle/ipam';
import { Addr, Prefix } from '@heddle/netaddr';
import * as v from 'valibot';
import { checkFamilyLimit } from '../addressing/family-limit.ts';
import { requestedAddresses, requestedIp } from '../addressing/requested-addresses.ts';

const bounds = {
  rangeStart: v.pipe(v.optional(ip()), v.description('the first address; that after the network unless set')),
  rangeEnd: v.pipe(
    v.optional(ip()),
    v.description('the last address; the last one of the subnet unless set'),
  ),
  gateway: v.pipe(
    v.optional(ip()),
    v.description('the gateway, which is never given; the first address of the subnet unless set'),
  ),
};
const range = v.object({ subnet: v.pipe(cidr(), v.description('the subnet')), ...bounds });
const rangeSets = v.array(v.array(range));

/** The members that host-local reads. */
export const hostLocalConfig = v.object({
  ipam: v.optional(
    v.object({
      subnet: v.pipe(
        v.optional(cidr()),
        v.description(
          'one range in short form, with the three members below; it becomes the first range set',
        ),
      ),
      ...bounds,
      ranges: v.pipe(
        v.optional(rangeSets, []),
        v.description('range sets, each a list of ranges; an attachment gets one address of each set'),
      ),
      routes: v.pipe(v.optional(v.array(routeSchema), []), v.description('routes, as the result has them')),
      dataDir: v.pipe(
        v.optional(absolutePath(), ''),
        v.description('where reservations are kept'),
        v.metadata({ default: DEFAULT_DATA_DIR }),
      ),
      resolvConf: v.pipe(
        v.optional(absolutePath(), ''),
        v.description("a file like resolv.conf(5) whose content becomes the result's `dns`"),
      ),
      statusOnExhaustion: v.pipe(
        v.optional(bool, false),
        v.description('whether STATUS fails, rather than warns, while a range set is exhausted'),
      ),
    }),
  ),
  args: v.optional(
    v.object({
      cni: v.optional(
        v.object({ ips: v.pipe(v.optional(v.array(requestedIp)), v.description('addresses to give')) }),
      ),
    }),
  ),
  runtimeConfig: v.optional(
    v.object({
      ipRanges: v.pipe(
        v.optional(rangeSets, []),
        v.description('range sets of the runtime, before those of `ranges`'),
      ),
      ips: v.pipe(v.optional(v.array(requestedIp)), v.description('addresses to give')),
    }),
  ),
});

/** A valid configuration. */
export type HostLocalConfig = v.InferOutput<typeof hostLocalConfig>;
/** Its `ipam` object. */
export type IpamConfig = NonNullable<HostLocalConfig['ipam']>;

/** @throws {ConfigError} when there is no `ipam` object */
export function ipamOf({ ipam }: HostLocalConfig): IpamConfig {
  if (ipam === undefined) throw new ConfigError("IPAM config missing 'ipam' key", { pointer: '/ipam' });
  return ipam;
}

/**
 * The range sets that addresses come from: the runtime's `ipRanges` first, then the short form, then `ranges`.
 *
 * @throws {IpamError} IPAM_RANGE_INVALID
 * @throws {ConfigError} when the version has no room for that many addresses
 */
export function rangeSetsOf(config: HostLocalConfig, cniVersion: string): readonly RangeSet[] {
  const sets = resolveRangeSets(configuredSets(config));
  checkFamilyLimit(cniVersion, sets.map(familyOf));
  return sets;
}

/** Whether any range is configured; those of `ipRanges` come with ADD only. */
export function hasRanges(config: HostLocalConfig): boolean {
  return configuredSets(config).length > 0;
}

/**
 * The addresses that somebody asked for: in CNI_ARGS, `args.cni.ips` and `runtimeConfig.ips`, together.
 * A prefix length is ignored.
 *
 * @param fromArgs the value of `IP` in CNI_ARGS
 * @throws {UsageError} when that is no address
 */
export function requestedIps(config: HostLocalConfig, fromArgs = ''): readonly Addr[] {
  return requestedAddresses(fromArgs, [
    ...(config.args?.cni?.ips ?? []),
    ...(config.runtimeConfig?.ips ?? []),
  ]);
}

/** The range sets as they are configured, in their order. */
export function configuredSets(config: HostLocalConfig): readonly (readonly RangeConfig[])[] {
  const { subnet, ranges, ...rest } = ipamOf(config);
  const short = subnet === undefined ? [] : [[{ ...rest, subnet }]];
  const sets = [...(config.runtimeConfig?.ipRanges ?? []), ...short, ...ranges];
  return sets.map((set) => set.map(rangeConfig));
}

function rangeConfig({ subnet, rangeStart, rangeEnd, gateway }: v.InferOutput<typeof range>): RangeConfig {
  return {
    subnet: Prefix.parse(canonicalCidr(subnet)),
    ...(isSet(rangeStart) && { rangeStart: Addr.parse(canonicalIp(rangeStart)) }),
    ...(isSet(rangeEnd) && { rangeEnd: Addr.parse(canonicalIp(rangeEnd)) }),
    ...(isSet(gateway) && { gateway: Addr.parse(canonicalIp(gateway)) }),
  };
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}

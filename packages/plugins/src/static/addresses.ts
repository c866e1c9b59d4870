/**
 * Which addresses the container gets. There are four sources:
 *
 * 1. `ipam.addresses`;
 * 2. `IP` of CNI_ARGS adds to them, and `GATEWAY` gives those that it added their gateways;
 * 3. `args.cni.ips`, if not empty, replaces all of them;
 * 4. `runtimeConfig.ips`, if not empty, replaces those again.
 *
 * Sources 2 to 4 may name an address without its prefix length. It then takes the place of the configured
 * address in whose subnet it lies, and borrows that one's prefix length and gateway. Without such an address
 * there is nothing to borrow, and the prefix length has to be given.
 */
import { ConfigError, canonicalIp, UsageError } from '@heddle/cni';
import { Addr, Prefix } from '@heddle/netaddr';
import { checkFamilyLimit } from '../addressing/family-limit.ts';
import type { StaticConfig } from './config.ts';

/** One address for the container. */
export interface StaticAddress {
  readonly address: Prefix;
  readonly gateway?: string;
}

/** The parts of a call that say which addresses are wanted. */
export interface AddressSources {
  readonly config: StaticConfig;
  /** `IP` and `GATEWAY` of CNI_ARGS. */
  readonly args: Readonly<Record<string, string | undefined>>;
  readonly cniVersion: string;
}

/**
 * Collects the addresses.
 *
 * @throws {ConfigError} for a text in the configuration that is no address, or too many addresses
 * @throws {UsageError} for one in CNI_ARGS
 */
export function addressesOf({ config, args, cniVersion }: AddressSources): readonly StaticAddress[] {
  if (config.ipam === undefined) {
    throw new ConfigError("IPAM config missing 'ipam' key", { pointer: '/ipam' });
  }
  const configured = config.ipam.addresses.map(readConfigured);
  const sources = [
    { texts: config.args?.cni?.ips ?? [], pointer: '/args/cni/ips' },
    { texts: config.runtimeConfig?.ips ?? [], pointer: '/runtimeConfig/ips' },
  ].map(({ texts, pointer }) => texts.map((text, index) => readIps(text, `${pointer}/${index}`, configured)));
  const replacement = sources.findLast((list) => list.length > 0);
  const fromArgs = readArgs(args, configured);
  const addresses = replacement?.map(({ address }) => address) ?? [
    ...configured.filter((each) => !fromArgs.some(({ inPlaceOf }) => inPlaceOf === each)),
    ...fromArgs.map(({ address }) => address),
  ];
  checkFamilyLimit(
    cniVersion,
    addresses.map(({ address }) => address.family),
  );
  return addresses;
}

/** An address from outside of `ipam.addresses`. */
interface Given {
  readonly address: StaticAddress;
  /** The configured address whose prefix length it has borrowed. */
  readonly inPlaceOf?: StaticAddress;
}

function readConfigured(entry: { address: string; gateway: string }, index: number): StaticAddress {
  const pointer = `/ipam/addresses/${index}`;
  const address = Prefix.tryParse(entry.address);
  if (address === undefined) {
    throw new ConfigError(`the 'address' field is expected to be in CIDR notation, got: '${entry.address}'`, {
      pointer: `${pointer}/address`,
      ...borrowHint(entry.address),
    });
  }
  if (entry.gateway === '') return { address };
  if (Addr.tryParse(entry.gateway) === undefined) {
    throw new ConfigError(`invalid IP address: ${entry.gateway}`, { pointer: `${pointer}/gateway` });
  }
  return { address, gateway: canonicalIp(entry.gateway) };
}

function readIps(text: string, pointer: string, configured: readonly StaticAddress[]): Given {
  const given = readGiven(text, configured);
  if (given !== undefined) return given;
  throw new ConfigError(`an entry in the 'ips' field is NOT in CIDR notation, got: '${text}'`, {
    pointer,
    ...borrowHint(text),
  });
}

function readArgs(
  { IP = '', GATEWAY = '' }: AddressSources['args'],
  configured: readonly StaticAddress[],
): readonly Given[] {
  const gateways = split(GATEWAY).map((text) => {
    const gateway = Addr.tryParse(text)?.unmap();
    if (gateway === undefined) throw invalidArgs(`invalid gateway address: ${text}`);
    return gateway;
  });
  return split(IP).map((text) => {
    const given = readGiven(text, configured);
    if (given === undefined) {
      throw invalidArgs(`the 'ip' field is expected to be in CIDR notation, got: '${text}'`, text);
    }
    const gateway = gateways.findLast((each) => given.address.address.contains(each));
    if (gateway === undefined) return given;
    return { ...given, address: { ...given.address, gateway: gateway.toString() } };
  });
}

function readGiven(text: string, configured: readonly StaticAddress[]): Given | undefined {
  const address = Prefix.tryParse(text);
  if (address !== undefined) return { address: { address } };
  const bare = Addr.tryParse(text)?.unmap();
  if (bare === undefined) return undefined;
  const inPlaceOf = configured.find((each) => each.address.contains(bare));
  if (inPlaceOf === undefined) return undefined;
  return { address: { ...inPlaceOf, address: Prefix.of(bare, inPlaceOf.address.bits) }, inPlaceOf };
}

/** For a text that would do if only it had a prefix length. */
function borrowHint(text: string): { hint?: string } {
  const addr = Addr.tryParse(text);
  if (addr === undefined) return {};
  return {
    hint: `give the prefix length, as in ${text}/${addr.family === 4 ? 24 : 64}; none can be borrowed, for no configured address is in the same subnet`,
  };
}

function split(list: string): readonly string[] {
  return list === '' ? [] : list.split(',');
}

function invalidArgs(message: string, text = ''): UsageError {
  return new UsageError(message, { code: 'ARGS_INVALID', ...borrowHint(text) });
}

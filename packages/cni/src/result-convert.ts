/**
 * Conversion between versions: what each direction keeps and loses is the reference's.
 *
 * - 0.1 and 0.2 know one address per family and no interfaces; routes there are destination and gateway.
 * - 0.3 to 0.4 know interfaces by name, MAC and sandbox, and call each address "4" or "6".
 * - 1.0 and 1.1 differ from each other in nothing.
 */
import { Prefix } from '@heddle/netaddr';
import { CNI_CODE } from './codes.ts';
import { CniError } from './errors.ts';
import type { Interface, IpConfig, Result, Route } from './result.ts';
import { groupOf, type ResultGroup } from './result-version.ts';

/**
 * The same result as another version would state it, with what that version cannot express left out.
 * An empty `version` means 0.1.0.
 *
 * @throws {CniError} code 1 for a version that was never released, and `cannot convert: no valid IP
 *   addresses` when nothing is left to say in 0.1.0 or 0.2.0.
 */
export function convertResult(result: Result, version: string): Result {
  const from = result.cniVersion === '' ? '1.1.0' : result.cniVersion;
  const to = version === '' ? '0.1.0' : version;
  const source = groupOf(from);
  const target = groupOf(to);
  if (source === undefined || target === undefined) {
    throw new CniError(CNI_CODE.INCOMPATIBLE_VERSION, `no converter for CNI result version ${from} to ${to}`);
  }
  const steps = PATH[source][target];
  const converted = steps.reduce((step, convert) => convert(step), result);
  return { ...converted, cniVersion: to };
}

/** The family that an address counts as; one mapped into IPv6 counts as IPv4. */
export function familyOf(prefix: string): '4' | '6' {
  const { addr } = Prefix.parse(prefix);
  return addr.family === 4 || addr.is4In6 ? '4' : '6';
}

/** What an address is called before 1.0.0. */
export function versionOf(ip: IpConfig): '4' | '6' {
  return ip.version ?? familyOf(ip.address);
}

type Conversion = (result: Result) => Result;

/** legacy → middle: addresses get their slot's name; nothing is lost. */
const widen: Conversion = ({ cniVersion, ips, routes, dns }) => ({
  cniVersion,
  ...(ips !== undefined && { ips: ips.map((ip) => ({ ...ip, version: versionOf(ip) })) }),
  ...(routes !== undefined && { routes }),
  ...(dns !== undefined && { dns }),
});

/** middle → legacy: the first address of each name, with the routes of its family. */
const narrow: Conversion = ({ cniVersion, ips = [], routes = [], dns }) => {
  const kept = (['4', '6'] as const).flatMap((version) => {
    const first = ips.find((ip) => versionOf(ip) === version);
    if (first === undefined) return [];
    const { address, gateway } = first;
    return [{ address, ...(gateway !== undefined && { gateway }), version }];
  });
  if (kept.length === 0)
    throw new CniError(CNI_CODE.INCOMPATIBLE_VERSION, 'cannot convert: no valid IP addresses');
  const plain = kept.flatMap(({ version }) =>
    routes.filter(({ dst }) => familyOf(dst) === version).map(plainRoute),
  );
  return {
    cniVersion,
    ips: kept,
    ...(plain.length > 0 && { routes: plain }),
    ...(dns !== undefined && { dns }),
  };
};

/** middle → current: an address needs no name any more. */
const modernise: Conversion = (result) => ({
  ...result,
  ...(result.ips !== undefined && { ips: result.ips.map(({ version: _, ...ip }) => ip) }),
});

/** current → middle: addresses get names, interfaces lose what came with 1.0.0. */
const antiquate: Conversion = (result) => ({
  ...result,
  ...(result.interfaces !== undefined && { interfaces: result.interfaces.map(plainInterface) }),
  ...(result.ips !== undefined && {
    ips: result.ips.map((ip) => ({ ...ip, version: familyOf(ip.address) })),
  }),
});

const PATH: Readonly<Record<ResultGroup, Readonly<Record<ResultGroup, readonly Conversion[]>>>> = {
  legacy: { legacy: [], middle: [widen], current: [widen, modernise] },
  middle: { legacy: [narrow], middle: [], current: [modernise] },
  current: { legacy: [antiquate, narrow], middle: [antiquate], current: [] },
};

function plainInterface({ name, mac, sandbox }: Interface): Interface {
  return { name, ...(mac !== undefined && { mac }), ...(sandbox !== undefined && { sandbox }) };
}

function plainRoute({ dst, gw }: Route): Route {
  return { dst, ...(gw !== undefined && { gw }) };
}

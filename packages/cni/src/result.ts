/**
 * Results: what a plugin says it has set up.
 *
 * In memory there is one form, the newest version's, whatever version the JSON had; `cniVersion` says which
 * that was. Addresses are canonical texts. `parseResult` reads every version, `renderResult` writes every
 * version, `convertResult` applies what a conversion loses.
 */

import { decodeValue } from './decode.ts';
import { DecodeError } from './errors.ts';
import { isJsonObject, jsonPointer } from './json-value.ts';
import { legacyResultSchema, resultSchema } from './result-schema.ts';
import { groupOf, type ResultGroup, versionsOf } from './result-version.ts';

/** What a plugin has set up, in the form of version 1.1.0. */
export interface Result {
  /** The version that the result was decoded from, or is meant for. */
  readonly cniVersion: string;
  readonly interfaces?: readonly Interface[];
  readonly ips?: readonly IpConfig[];
  readonly routes?: readonly Route[];
  readonly dns?: Dns;
}

/** An interface of the attachment, in the container or on the host. */
export interface Interface {
  readonly name: string;
  readonly mac?: string;
  readonly mtu?: number;
  /** The path of the network namespace, for an interface inside the container. */
  readonly sandbox?: string;
  readonly socketPath?: string;
  readonly pciID?: string;
}

/** An address of the attachment. */
export interface IpConfig {
  /** With prefix length: `10.1.2.3/24`. */
  readonly address: string;
  readonly gateway?: string;
  /** Index into `interfaces`. */
  readonly interface?: number;
  /** What a result before 1.0.0 called the address; it, not the address, decides conversion to 0.2.0. */
  readonly version?: '4' | '6';
}

/** A route of the attachment. */
export interface Route {
  readonly dst: string;
  readonly gw?: string;
  readonly mtu?: number;
  readonly advmss?: number;
  readonly priority?: number;
  readonly table?: number;
  readonly scope?: number;
}

/** Name resolution for the attachment. */
export interface Dns {
  readonly nameservers?: readonly string[];
  readonly domain?: string;
  readonly search?: readonly string[];
  readonly options?: readonly string[];
}

/** How to read a result. */
export interface ParseResultOptions {
  /** The version to assume for a result that names none: the configuration's. Empty means 0.1.0. */
  readonly version: string;
  /** The activity; errors begin with it. */
  readonly what?: string;
}

/**
 * A result from its JSON value, read as its own `cniVersion` says. Documents that mix the shapes of several
 * versions (`ips[].version` in a 1.0.0 result) are taken.
 *
 * @throws {DecodeError} when it is no object, has an unknown version or a member that is not valid.
 * @example parseResult({ ips: [{ version: '4', address: '192.0.2.5/24' }] }, { version: '0.3.1' })
 */
export function parseResult(json: unknown, options: ParseResultOptions): Result {
  if (!isJsonObject(json)) throw decodeError('a result must be a JSON object', options);
  const own = memberIgnoringCase(json, 'cniVersion');
  const cniVersion = typeof own === 'string' && own !== '' ? own : options.version || '0.1.0';
  const group = groupOf(cniVersion);
  if (group === undefined) throw decodeError(`unsupported CNI result version "${cniVersion}"`, options);
  return group === 'legacy'
    ? readLegacy(json, cniVersion, options)
    : readModern(json, cniVersion, group, options);
}

/**
 * The `prevResult` of a configuration, `undefined` when there is none. It is read as the configuration's
 * version: one from another group of versions is an error, one that names none has the configuration's.
 *
 * @throws {DecodeError} whose message begins `could not parse prevResult: `.
 */
export function parsePrevResult(json: unknown, configVersion: string): Result | undefined {
  if (json === undefined || json === null) return undefined;
  const options = { version: configVersion, what: 'could not parse prevResult' };
  const result = parseResult(json, options);
  const group = groupOf(configVersion === '' ? '0.1.0' : configVersion);
  if (group === undefined) throw decodeError(`unsupported CNI result version "${configVersion}"`, options);
  if (group !== groupOf(result.cniVersion)) {
    const supported = versionsOf(group).join(' ');
    const got = `result type supports [${supported}] but unmarshalled CNIVersion is "${result.cniVersion}"`;
    throw decodeError(got, options);
  }
  return result;
}

function readLegacy(json: object, cniVersion: string, options: ParseResultOptions): Result {
  const { ip4, ip6, dns } = decode(legacyResultSchema, json, options);
  const slots = [
    { version: '4' as const, slot: ip4 },
    { version: '6' as const, slot: ip6 },
  ];
  const ips = slots.flatMap(({ version, slot }) =>
    slot === undefined ? [] : [present<IpConfig>({ address: slot.ip, gateway: slot.gateway, version })],
  );
  const routes = slots.flatMap(({ slot }) => slot?.routes ?? []).map((route) => present<Route>(route));
  return assemble({ cniVersion, ips, routes, dns });
}

function readModern(
  json: object,
  cniVersion: string,
  group: ResultGroup,
  options: ParseResultOptions,
): Result {
  const result = decode(resultSchema, json, options);
  const isOld = group === 'middle';
  return assemble({
    cniVersion,
    interfaces: result.interfaces?.map(({ name, mac, sandbox, ...newer }) =>
      present<Interface>({ name, mac, sandbox, ...(!isOld && { ...newer, mtu: newer.mtu || undefined }) }),
    ),
    ips: result.ips?.map(({ version, ...ip }) =>
      present<IpConfig>({ ...ip, ...(isOld && (version === '4' || version === '6') && { version }) }),
    ),
    routes: result.routes?.map((route) => present<Route>(route)),
    dns: result.dns,
  });
}

function decode<S extends typeof legacyResultSchema | typeof resultSchema>(
  schema: S,
  json: object,
  options: ParseResultOptions,
) {
  const decoded = decodeValue(schema, json);
  if (decoded.ok) return decoded.output;
  const [{ path, text }] = decoded.problems;
  throw decodeError(text, options, jsonPointer(path));
}

function decodeError(reason: string, { what }: ParseResultOptions, pointer = ''): DecodeError {
  return new DecodeError(reason, { code: 'RESULT_INVALID', pointer, ...(what !== undefined && { what }) });
}

function memberIgnoringCase(json: object, name: string): unknown {
  const lower = name.toLowerCase();
  const key = Object.keys(json).findLast((each) => each === name || each.toLowerCase() === lower);
  return key === undefined ? undefined : (json as Readonly<Record<string, unknown>>)[key];
}

interface Parts {
  readonly cniVersion: string;
  readonly interfaces?: readonly Interface[] | undefined;
  readonly ips?: readonly IpConfig[] | undefined;
  readonly routes?: readonly Route[] | undefined;
  readonly dns?: object | undefined;
}

/** Empty lists and an empty dns say nothing, so they are not there. */
function assemble({ cniVersion, interfaces, ips, routes, dns }: Parts): Result {
  const kept = present<Dns>(dns ?? {});
  return {
    cniVersion,
    ...(interfaces !== undefined && interfaces.length > 0 && { interfaces }),
    ...(ips !== undefined && ips.length > 0 && { ips }),
    ...(routes !== undefined && routes.length > 0 && { routes }),
    ...(Object.keys(kept).length > 0 && { dns: kept }),
  };
}

/** Leaves out what is not set: undefined, the empty text, the empty list. */
function present<T>(members: object): T {
  const kept: Record<string, unknown> = {};
  for (const name in members) {
    const value = (members as Readonly<Record<string, unknown>>)[name];
    const isSet = value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
    if (isSet || name === 'name') kept[name] = value;
  }
  return kept as T;
}

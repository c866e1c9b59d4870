/**
 * Results as JSON, in the member order of each version: fixed before 1.0.0, alphabetical from then on.
 * `dns` is always there before 1.0.0, and only when it says something from then on.
 */
import { goJsonIndented, sortMembers } from './go-json.ts';
import type { JsonObject } from './json-value.ts';
import type { Dns, Interface, IpConfig, Result, Route } from './result.ts';
import { convertResult, familyOf, versionOf } from './result-convert.ts';
import { groupOf } from './result-version.ts';

/**
 * The JSON value of a result for a version.
 *
 * @throws {CniError} when the result cannot be converted; see `convertResult`.
 */
export function renderResult(result: Result, version: string): JsonObject {
  const converted = convertResult(result, version);
  switch (groupOf(converted.cniVersion)) {
    case 'legacy':
      return legacyShape(converted);
    case 'middle':
      return middleShape(converted);
    default:
      return currentShape(converted);
  }
}

/**
 * Finds out, for less than rendering it, that a result can be rendered for a version.
 *
 * @throws {CniError} like {@link renderResult}
 */
export function checkRenders(result: Result, version: string): void {
  // The newest shape takes whatever could be converted.
  if (groupOf(convertResult(result, version).cniVersion) !== 'current') renderResult(result, version);
}

/** The text of a result for a version, as a plugin prints it: four spaces of indent, no newline at the end. */
export function stringifyResult(result: Result, version: string): string {
  return goJsonIndented(renderResult(result, version));
}

function legacyShape({ cniVersion, ips = [], routes = [], dns }: Result): JsonObject {
  const slots = (['4', '6'] as const).flatMap((version) => {
    const ip = ips.find((each) => versionOf(each) === version);
    return ip === undefined ? [] : [{ version, ip }];
  });
  // A result that was 0.2.0 all along may hold a route whose family has no address; it stays with the other.
  const slotOf = (route: Route) => slots.find(({ version }) => version === familyOf(route.dst)) ?? slots[0];
  const members = slots.map((slot) => {
    const own = routes.filter((route) => slotOf(route) === slot).map(routeShape);
    const { address, gateway } = slot.ip;
    return [`ip${slot.version}`, withoutUnset({ ip: address, gateway, routes: own })] as const;
  });
  return { cniVersion, ...Object.fromEntries(members), dns: dnsShape(dns) };
}

function middleShape({ cniVersion, interfaces = [], ips = [], routes = [], dns }: Result): JsonObject {
  return {
    ...withoutUnset({
      cniVersion,
      interfaces: interfaces.map(({ name, mac, sandbox }) => ({ name, ...withoutUnset({ mac, sandbox }) })),
      ips: ips.map((ip) =>
        withoutUnset({
          version: versionOf(ip),
          interface: ip.interface,
          address: ip.address,
          gateway: ip.gateway,
        }),
      ),
      routes: routes.map(routeShape),
    }),
    dns: dnsShape(dns),
  };
}

/** In alphabetical order at every level. */
function currentShape({ cniVersion, interfaces = [], ips = [], routes = [], dns }: Result): JsonObject {
  const dnsMembers = dnsShape(dns);
  return withoutUnset({
    cniVersion,
    dns: Object.keys(dnsMembers).length > 0 ? sortMembers(dnsMembers) : undefined,
    interfaces: interfaces.map(interfaceShape),
    ips: ips.map(({ address, gateway, interface: index }: IpConfig) =>
      withoutUnset({ address, gateway, interface: index }),
    ),
    routes: routes.map((route) => sortMembers(routeShape(route))),
  });
}

function interfaceShape({ name, mac, mtu, sandbox, socketPath, pciID }: Interface): JsonObject {
  const before = withoutUnset({ mac, mtu: mtu || undefined });
  return { ...before, name, ...withoutUnset({ pciID, sandbox, socketPath }) };
}

// Zero is "not set" for the metrics, but a table or scope of zero is a value.
function routeShape({ dst, gw, mtu, advmss, priority, table, scope }: Route): JsonObject {
  return withoutUnset({
    dst,
    gw,
    mtu: mtu || undefined,
    advmss: advmss || undefined,
    priority: priority || undefined,
    table,
    scope,
  });
}

function dnsShape({ nameservers, domain, search, options }: Dns = {}): JsonObject {
  return withoutUnset({ nameservers, domain, search, options });
}

/** The names are this module's own. */
function withoutUnset(members: Readonly<Record<string, JsonObject[string] | undefined>>): JsonObject {
  const kept: Record<string, JsonObject[string]> = {};
  for (const name in members) {
    const value = members[name];
    if (value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0))
      kept[name] = value;
  }
  return kept;
}

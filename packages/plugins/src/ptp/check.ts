/** CHECK: the attachment is still what ADD made of it, at both ends. */
import type { Result } from '@heddle/cni';
import type { CheckCall } from '@heddle/cni/plugin';
import type { KernelSession, Link, RouteSpec } from '@heddle/netlink';
import { addressesOf } from '../interface/apply-result.ts';
import {
  checkLink,
  checkNetworkLayer,
  containerInterface,
  type Findings,
  onlyOf,
  reportDrift,
  requirePrevResult,
} from '../interface/findings.ts';
import { masqueradeFindings } from '../interface/masquerade.ts';
import type { PtpConfig } from './config.ts';
import { containerRoutes, hostAddresses, hostRoutes, type RoutedAddress } from './routing.ts';

type Call = CheckCall<PtpConfig>;

/** See the file's comment. All that is different is reported at once. */
export async function check(call: Call): Promise<void> {
  const { config, container, ifName } = call;
  await call.ipam.check();
  const whole = requirePrevResult(call.prevResult);
  const { index, entry } = containerInterface(whole, ifName, call.netnsPath);
  const result = onlyOf(whole, index);
  const inside = await container.links.find(ifName);
  reportDrift([
    ...checkLink(ifName, inside, { kind: 'veth', up: true, mac: entry.mac }),
    ...(inside === undefined ? [] : await checkEnds(call, inside, result, index)),
    ...(config.ipMasq ? await masqueradeFindings(call, result) : []),
  ]);
}

async function checkEnds(call: Call, inside: Link, result: Result, index: number): Promise<Findings> {
  const { host, container, ifName } = call;
  const addresses = addressesOf(ifName, result).filter(
    (address): address is RoutedAddress => address.gateway !== undefined,
  );
  const layer3 = await checkNetworkLayer(container, inside, result, index);
  // The routes to the networks are among them already.
  const toGateways = containerRoutes(inside.index, addresses).filter(({ gateway }) => gateway === undefined);
  return [
    ...layer3,
    ...(await missingRoutes(container, inside, toGateways)),
    ...(await checkHostEnd(host, inside, result, addresses)),
  ];
}

async function checkHostEnd(
  host: KernelSession,
  inside: Link,
  { interfaces = [] }: Result,
  addresses: readonly RoutedAddress[],
): Promise<Findings> {
  const end = inside.parent === undefined ? undefined : await host.links.find(inside.parent);
  if (end === undefined || end.kind !== 'veth' || end.parent !== inside.index) {
    return [`the host's end of ${inside.name} is missing`];
  }
  const entry = interfaces.find(({ name, sandbox }) => name === end.name && !sandbox);
  const present = await host.addresses.list({ link: end.index });
  return [
    ...(entry === undefined
      ? [`prevResult does not have ${end.name}, the host's end of ${inside.name}`]
      : []),
    ...checkLink(end.name, end, { kind: 'veth', up: true, mac: entry?.mac }),
    ...hostAddresses(addresses)
      .filter((prefix) => !present.some((address) => address.prefix.equals(prefix)))
      .map((prefix) => `the gateway's address ${prefix} is missing on ${end.name}`),
    ...(await missingRoutes(host, end, hostRoutes(end.index, addresses))),
  ];
}

/** Routes that a link does not have, in whatever table. */
async function missingRoutes(
  session: KernelSession,
  link: Link,
  wanted: readonly RouteSpec[],
): Promise<Findings> {
  const present = (await session.routes.list({ link: link.index })).filter(({ type }) => type === 'unicast');
  return wanted
    .filter(({ dst }) => !present.some((route) => route.dst.equals(dst)))
    .map(({ dst }) => `the route to ${dst} is missing on ${link.name}`);
}

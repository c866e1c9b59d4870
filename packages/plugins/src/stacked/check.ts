/** CHECK: the attachment is still what ADD made of it. */
import type { CheckCall } from '@heddle/cni/plugin';
import type { Link } from '@heddle/netlink';
import {
  checkLink,
  checkNetworkLayer,
  containerInterface,
  type Findings,
  reportDrift,
  requirePrevResult,
} from '../interface/findings.ts';
import { hasIpam, type StackedConfig } from './config.ts';
import type { StackedKind } from './kind.ts';

/** See the file's comment. All that is different is reported at once. */
export async function checkStacked<C extends StackedConfig>(
  call: CheckCall<C>,
  kind: StackedKind<C>,
): Promise<void> {
  const { config, container, ifName } = call;
  if (hasIpam(config)) await call.ipam.check();
  const result = requirePrevResult(call.prevResult);
  const { index, entry } = containerInterface(result, ifName, call.netnsPath);
  const link = await container.links.find(ifName);
  const expected = { kind: kind.kind, up: true, mac: entry.mac };
  reportDrift([
    ...checkLink(ifName, link, expected),
    ...(await masterFindings(call, link)),
    ...(link?.kind === kind.kind ? [...mtuFindings(link, config), ...kind.findings(link, config)] : []),
    ...(link === undefined ? [] : await checkNetworkLayer(container, link, result, index)),
  ]);
}

/** A master that the default route or the chain told is not known any more. */
async function masterFindings<C extends StackedConfig>(
  { config, host, container, ifName }: CheckCall<C>,
  link: Link | undefined,
): Promise<Findings> {
  const { master: name, linkInContainer } = config;
  if (name === '') return [];
  const master = await (linkInContainer ? container : host).links.find(name);
  if (master === undefined) return [`master ${name} is missing`];
  const isInContainer = link?.parentNetnsId === undefined;
  if (link === undefined || (link.parent === master.index && isInContainer === linkInContainer)) return [];
  return [`link ${ifName} should be on ${name}`];
}

function mtuFindings({ name, mtu }: Link, config: StackedConfig): Findings {
  if (config.mtu === 0 || config.mtu === mtu) return [];
  return [`link ${name} should have the MTU ${config.mtu}, but has ${mtu}`];
}

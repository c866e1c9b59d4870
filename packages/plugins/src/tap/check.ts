/** CHECK: the device is still what ADD made of it. */
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
import type { TapConfig } from './config.ts';

type Call = CheckCall<TapConfig>;

/** See the file's comment. All that is different is reported at once. */
export async function check(call: Call): Promise<void> {
  const { container, ifName, ipam } = call;
  if (ipam.type !== '') await ipam.check();
  const result = requirePrevResult(call.prevResult);
  const { index, entry } = containerInterface(result, ifName, call.netnsPath);
  const link = await container.links.find(ifName);
  reportDrift([
    ...checkLink(ifName, link, { kind: 'tun', up: true, mac: entry.mac }),
    ...(link === undefined ? [] : tapFindings(link, call.config)),
    ...(link === undefined ? [] : await bridgeFindings(call, link)),
    ...(link === undefined ? [] : await checkNetworkLayer(container, link, result, index)),
  ]);
}

function tapFindings({ name, data }: Link, { owner, group, multiQueue }: TapConfig): Findings {
  if (data?.kind !== 'tun') return [];
  const compare = (what: string, wanted: unknown, is: unknown): Findings =>
    wanted === is ? [] : [`${what} of ${name} should be ${wanted ?? 'nobody'}, but is ${is ?? 'nobody'}`];
  return [
    ...compare('the type', 'tap', data.type),
    ...compare('the owner', owner, data.owner),
    ...compare('the group', group, data.ownerGroup),
    ...compare('multiQueue', multiQueue, data.multiQueue ?? false),
  ];
}

async function bridgeFindings({ config, container }: Call, link: Link): Promise<Findings> {
  if (config.bridge === '') return [];
  const bridge = await container.links.find(config.bridge);
  if (bridge !== undefined && link.master === bridge.index) return [];
  return [`link ${link.name} should be a port of ${config.bridge}`];
}

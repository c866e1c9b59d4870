/** What is special about ipvlan links. */
import { CNI_CODE, CniError, type Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import type { Link } from '@heddle/netlink';
import type { Findings } from '../interface/findings.ts';
import type { StackedKind } from '../stacked/index.ts';
import { type IpvlanConfig, modeOf } from './config.ts';

/** Ipvlan links. */
export const ipvlanKind: StackedKind<IpvlanConfig> = {
  kind: 'ipvlan',
  module: 'ipvlan',
  options: (config) => ({ kind: 'ipvlan', mode: modeOf(config), flags: 0 }),
  findings,
  impliedMaster,
  addressesWithoutIpam,
};

function findings({ name, data }: Link, config: IpvlanConfig): Findings {
  const wanted = modeOf(config);
  if (data?.kind !== 'ipvlan' || data.mode === wanted) return [];
  return [`link ${name} should be in mode ${wanted}, but is in ${data.mode}`];
}

/** In a chain the link that the plugins before made. */
function impliedMaster({ prevResult }: AddCall<IpvlanConfig>): string | undefined {
  if (prevResult === undefined) return undefined;
  const [only, ...others] = prevResult.interfaces ?? [];
  if (only !== undefined && only.name !== '' && others.length === 0) return only.name;
  throw new CniError(
    CNI_CODE.INVALID_CONFIG,
    `prevResult has no single named interface to be the master: it has ${prevResult.interfaces?.length ?? 0}`,
    { hint: 'set "master"' },
  );
}

/** In a chain those of the plugins before. The kernel gives a link only the packets to its addresses, so it must have some. */
function addressesWithoutIpam({ prevResult }: AddCall<IpvlanConfig>): Result {
  if (prevResult?.ips !== undefined && prevResult.ips.length > 0) return prevResult;
  throw new CniError(CNI_CODE.INVALID_CONFIG, 'no plugin name provided', {
    cniDetails: 'ipam.type is not set, and no plugin before in the chain gave an address',
  });
}

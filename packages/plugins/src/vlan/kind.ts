/** What is special about VLAN links. */
import type { Link } from '@heddle/netlink';
import type { Findings } from '../interface/findings.ts';
import type { StackedKind } from '../stacked/index.ts';
import type { VlanConfig } from './config.ts';

/** VLAN links (802.1Q). */
export const vlanKind: StackedKind<VlanConfig> = {
  kind: 'vlan',
  module: '8021q',
  options: ({ vlanId }) => ({ kind: 'vlan', id: vlanId }),
  findings,
};

function findings({ name, data }: Link, { vlanId }: VlanConfig): Findings {
  if (data?.kind !== 'vlan' || data.id === vlanId) return [];
  return [`link ${name} should be in VLAN ${vlanId}, but is in ${data.id}`];
}

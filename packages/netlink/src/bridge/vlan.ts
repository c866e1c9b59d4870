/** The VLANs of a bridge's port. */
import { encode } from '@heddle/wire';
import { type Change, type LinkRef, labelOf } from '../core/change.ts';
import { AF } from '../core/family.ts';
import { RTM } from '../core/rtm.ts';
import { BRIDGE_FLAGS, BRIDGE_VLAN_INFO, type BridgeMessage, bridgeMessage } from './codec.ts';

/** A VLAN that a port is in. */
export interface PortVlan {
  readonly id: number;
  /** Frames that come in without a tag belong to it. */
  readonly pvid: boolean;
  /** Its frames leave without a tag. */
  readonly untagged: boolean;
}

/** A VLAN, or a range of them, to put a port into. */
export interface PortVlanSpec {
  readonly id: number;
  /** The last of a range from `id` on. */
  readonly lastId?: number | undefined;
  readonly pvid?: boolean | undefined;
  readonly untagged?: boolean | undefined;
  /** The link is the bridge itself. */
  readonly self?: boolean | undefined;
}

/** A VLAN, or a range of them, to take a port out of. */
export type PortVlanKey = Pick<PortVlanSpec, 'id' | 'lastId' | 'self'>;

/** The VLANs that a message lists. */
export function vlansOf({ attributes: { spec } }: BridgeMessage): PortVlan[] {
  return (spec?.vlans ?? []).map(({ id, flags }) => ({
    id,
    pvid: (flags & BRIDGE_VLAN_INFO.PVID) !== 0,
    untagged: (flags & BRIDGE_VLAN_INFO.UNTAGGED) !== 0,
  }));
}

/** The request that puts a port into a VLAN. */
export function addVlan(ref: LinkRef, spec: PortVlanSpec): Change {
  return vlanChange(RTM.SETLINK, `add ${labelOfVlans(spec)} to ${labelOf(ref)}`, ref, spec);
}

/** The request that takes a port out of a VLAN. */
export function deleteVlan(ref: LinkRef, key: PortVlanKey): Change {
  return vlanChange(RTM.DELLINK, `delete ${labelOfVlans(key)} from ${labelOf(ref)}`, ref, key);
}

function vlanChange(type: number, operation: string, ref: LinkRef, spec: PortVlanSpec): Change {
  const { id, lastId = id, self } = spec;
  const flags = (spec.pvid ? BRIDGE_VLAN_INFO.PVID : 0) | (spec.untagged ? BRIDGE_VLAN_INFO.UNTAGGED : 0);
  const vlans =
    lastId === id
      ? [{ id, flags }]
      : [
          { id, flags: flags | BRIDGE_VLAN_INFO.RANGE_BEGIN },
          { id: lastId, flags: flags | BRIDGE_VLAN_INFO.RANGE_END },
        ];
  return async (indexOf) => ({
    type,
    operation,
    body: encode(bridgeMessage, {
      family: AF.BRIDGE,
      index: await indexOf(ref),
      attributes: { spec: { flags: self ? BRIDGE_FLAGS.SELF : BRIDGE_FLAGS.MASTER, vlans } },
    }),
  });
}

function labelOfVlans({ id, lastId }: PortVlanKey): string {
  return lastId === undefined || lastId === id ? `VLAN ${id}` : `VLANs ${id}-${lastId}`;
}

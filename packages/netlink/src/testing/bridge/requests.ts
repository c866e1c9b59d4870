/** RTM_SETLINK, RTM_DELLINK and RTM_GETLINK of AF_BRIDGE: ports and VLANs — net/bridge/br_netlink.c */
import { decode, encode, type Input } from '@heddle/wire';
import { BRIDGE_FLAGS, BRIDGE_VLAN_INFO, type BridgeMessage, bridgeMessage } from '../../bridge/codec.ts';
import { AF } from '../../core/family.ts';
import type { Reply } from '../../core/message.ts';
import { RTM } from '../../core/rtm.ts';
import { RTEXT_FILTER } from '../../link/fields.ts';
import type { Handler } from '../core/handler.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse, refuseUnknown, unsupported } from '../core/refusal.ts';
import { isOperational } from '../link/describe.ts';
import type { LinkRecord } from '../link/record.ts';
import { describePort } from './membership.ts';
import { joinVlan, leaveVlan } from './vlans.ts';

/** RTM_SETLINK: flags of a port, and VLANs to join. */
export const setPort: Handler = (namespace, { body }) => {
  const { link, message } = target(namespace, body);
  const { port, spec } = message.attributes;
  if (spec?.vlans !== undefined) needVlans(namespace);
  if (port !== undefined) changePort(namespace, link, port);
  for (const { id, flags } of requestedVlans(spec)) {
    const vlan = {
      id,
      pvid: (flags & BRIDGE_VLAN_INFO.PVID) !== 0,
      untagged: (flags & BRIDGE_VLAN_INFO.UNTAGGED) !== 0,
    };
    joinVlan(namespace, link.index, vlan);
  }
  publish(namespace, link.index);
  return undefined;
};

/** RTM_DELLINK: VLANs to leave. */
export const leaveVlans: Handler = (namespace, { body }) => {
  const { link, message } = target(namespace, body);
  for (const { id } of requestedVlans(message.attributes.spec)) leaveVlan(namespace, link.index, id);
  publish(namespace, link.index);
  return undefined;
};

/** RTM_GETLINK: ports, and with RTEXT_FILTER_BRVLAN their VLANs and those of bridges. */
export const listPorts: Handler = (namespace, { body }) => {
  const { attributes } = decode(bridgeMessage, body);
  refuseUnknown('IFLA', attributes);
  const mask = attributes.extMask ?? 0;
  if ((mask & RTEXT_FILTER.BRVLAN_COMPRESSED) !== 0) unsupported('compressed lists of VLANs');
  const vlans = (mask & RTEXT_FILTER.BRVLAN) !== 0;
  return [...namespace.links.values()]
    .filter(({ port, kind }) => port !== undefined || (vlans && kind === 'bridge'))
    .map((link) => describe(link, vlans));
};

/** The port or, with BRIDGE_FLAGS_SELF, the bridge that a request is about. */
function target(
  namespace: Namespace,
  body: Uint8Array,
): { readonly link: LinkRecord; readonly message: BridgeMessage } {
  const message = decode(bridgeMessage, body);
  refuseUnknown('IFLA', message);
  const link = namespace.links.get(message.index) ?? refuse('ENODEV', 'unknown ifindex');
  const self = ((message.attributes.spec?.flags ?? 0) & BRIDGE_FLAGS.SELF) !== 0;
  const isBridge = link.kind === 'bridge';
  if (self ? !isBridge : link.port === undefined) refuse('EOPNOTSUPP');
  return { link, message };
}

function changePort(
  namespace: Namespace,
  link: LinkRecord,
  { unknown: _, ...changes }: NonNullable<BridgeMessage['attributes']['port']>,
): void {
  const { port } = link;
  if (port === undefined) refuse('EOPNOTSUPP');
  if (changes.backupPort !== undefined) unsupported('backup ports of bridges');
  const { state } = changes;
  if (state !== undefined) {
    const bridge = link.master === undefined ? undefined : namespace.links.get(link.master);
    if (bridge?.data?.bridge?.stp === true) refuse('EBUSY');
    if (typeof state === 'number') refuse('EINVAL');
    if (!link.up || (!isOperational(link) && state !== 'disabled')) refuse('ENETDOWN');
  }
  const attributes = { ...port.attributes, ...changes };
  namespace.links.set(link.index, { ...link, port: { ...port, attributes } });
}

/** The kernel may be built without CONFIG_BRIDGE_VLAN_FILTERING. */
function needVlans({ machine }: Namespace): void {
  if (machine.missingKinds.has('bridge-vlan')) refuse('EOPNOTSUPP');
}

/** The VLANs of a request, ranges spelt out. */
function requestedVlans(spec: BridgeMessage['attributes']['spec']) {
  const found: { id: number; flags: number }[] = [];
  let begin: { readonly id: number; readonly flags: number } | undefined;
  for (const vlan of spec?.vlans ?? []) {
    if (vlan.id < 1 || vlan.id > MAX_ID) refuse('EINVAL');
    if ((vlan.flags & BRIDGE_VLAN_INFO.RANGE_BEGIN) !== 0) {
      if (begin !== undefined || (vlan.flags & BRIDGE_VLAN_INFO.PVID) !== 0) refuse('EINVAL');
      begin = vlan;
    } else if (begin === undefined) {
      found.push(vlan);
    } else {
      if ((vlan.flags & BRIDGE_VLAN_INFO.RANGE_END) === 0 || vlan.id <= begin.id) refuse('EINVAL');
      for (let id = begin.id; id <= vlan.id; id++) found.push({ id, flags: begin.flags });
      begin = undefined;
    }
  }
  if (begin !== undefined) refuse('EINVAL');
  return found;
}

const MAX_ID = 4094;

function describe(link: LinkRecord, vlans: boolean): Reply {
  if (!vlans) return describePort(link);
  const { index, name, master, port } = link;
  const attributes: Input<typeof bridgeMessage>['attributes'] = {
    ifname: name,
    ...(master !== undefined && { master }),
    ...(port && { port: port.attributes }),
    spec: {
      vlans: link.vlans.map(({ id, pvid, untagged }) => ({
        id,
        flags: (pvid ? BRIDGE_VLAN_INFO.PVID : 0) | (untagged ? BRIDGE_VLAN_INFO.UNTAGGED : 0),
      })),
    },
  };
  return {
    type: RTM.NEWLINK,
    flags: 0,
    body: encode(bridgeMessage, { family: AF.BRIDGE, index, attributes }),
  };
}

function publish(namespace: Namespace, index: number): void {
  const link = namespace.links.get(index);
  if (link?.port !== undefined) namespace.notifier.publish('link', describePort(link));
}

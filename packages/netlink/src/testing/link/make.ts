/** Making links — rtnl_newlink_create in net/core/rtnetlink.c, and the newlink of each kind. */
import type { LinkMessage } from '../../link/codec.ts';
import { IFF } from '../../link/fields.ts';
import { joinMaster } from '../bridge/membership.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse, unsupported } from '../core/refusal.ts';
import { setUp } from './admin.ts';
import { describeLink } from './describe.ts';
import { freshData, lowerOf } from './kind-data.ts';
import { type Kind, kindOf } from './kinds.ts';
import { checkMtu, VXLAN_HEADERS } from './limits.ts';
import { freeName } from './names.ts';
import type { LinkRecord } from './record.ts';
import { deleteLink } from './remove.ts';
import { initialState } from './watch.ts';

/** What any link is made from: a request, or the description of a veth's other end in one. */
type Attributes = Omit<LinkMessage['attributes'], 'linkInfo'>;

/** Makes the link of a request; of a veth both ends. */
export function makeLink(asker: Namespace, message: LinkMessage): void {
  const { attributes: a } = message;
  const info = a.linkInfo;
  const name = info?.kind;
  if (name === undefined) refuse('EOPNOTSUPP', 'Unknown device type');
  const kind = asker.machine.missingKinds.has(name) ? undefined : kindOf(name);
  if (kind === undefined) refuse('EOPNOTSUPP', 'Unknown device type');
  const namespace = targetOf(asker, a.netnsFd);
  checkAddress(a.address);
  if (a.mtu !== undefined) checkMtu(kind, a.mtu);
  const link =
    name === 'veth' ? makePair(asker, namespace, message) : makeOne(asker, namespace, message, name, kind);
  publish(namespace, link);
  if ((message.flags & IFF.UP) !== 0) setUp(namespace, link.index, true);
  if (a.master !== undefined && a.master !== 0) {
    try {
      joinMaster(namespace, link.index, a.master);
    } catch (error) {
      deleteLink(namespace, link.index);
      throw error;
    }
  }
}

/** The namespace that a request means to put a link into. */
export function targetOf(asker: Namespace, descriptor: number | undefined): Namespace {
  if (descriptor === undefined) return asker;
  return asker.machine.byDescriptor(descriptor) ?? refuse('EINVAL');
}

/** Refuses what is no address of one Ethernet interface. */
export function checkAddress(address: Uint8Array | undefined): void {
  if (address === undefined) return;
  if (address.length !== 6) refuse('EINVAL');
  const isGroup = ((address[0] ?? 0) & 1) !== 0;
  if (isGroup || address.every((byte) => byte === 0)) refuse('EADDRNOTAVAIL');
}

function makeOne(
  asker: Namespace,
  namespace: Namespace,
  message: LinkMessage,
  name: string,
  kind: Kind,
): LinkRecord {
  const { attributes: a } = message;
  const lower = lowerOf(asker, name, message);
  const data = freshData(namespace, name, a.linkInfo?.data ?? {}, lower);
  const below = lower?.namespace.links.get(lower.index);
  const room = below === undefined ? undefined : below.mtu - (name === 'vxlan' ? VXLAN_HEADERS : 0);
  if (room !== undefined && (a.mtu ?? 0) > room) refuse('EINVAL');
  const sharesAddress = below !== undefined && (name === 'vlan' || name === 'ipvlan');
  return register(namespace, { ...a, ...(room !== undefined && { mtu: a.mtu ?? room }) }, name, kind, {
    ...(lower && { lower }),
    ...(data && { data }),
    ...(sharesAddress && a.address === undefined && { address: below.address }),
    ...(name === 'bridge' && hasVlans(namespace) && { vlans: [{ id: 1, pvid: true, untagged: true }] }),
  });
}

function hasVlans({ machine }: Namespace): boolean {
  return !machine.missingKinds.has('bridge-vlan');
}

/** The other end comes first. */
function makePair(asker: Namespace, namespace: Namespace, { attributes: a }: LinkMessage): LinkRecord {
  const kind = kindOf('veth');
  if (kind === undefined) refuse('EOPNOTSUPP');
  const peer = a.linkInfo?.data?.veth?.peer;
  const there = targetOf(asker, peer?.attributes.netnsFd);
  const described: Attributes = peer?.attributes ?? {};
  checkAddress(described.address);
  if (described.mtu !== undefined) checkMtu(kind, described.mtu);
  const other = register(there, described, 'veth', kind, {});
  try {
    const link = register(namespace, a, 'veth', kind, { lower: { namespace: there, index: other.index } });
    const whole = { ...other, lower: { namespace, index: link.index } };
    there.links.set(other.index, whole);
    publish(there, whole);
    return link;
  } catch (error) {
    there.links.delete(other.index);
    there.settings.removeLink(other.index);
    throw error;
  }
}

function register(
  namespace: Namespace,
  a: Attributes,
  name: string,
  kind: Kind,
  special: Partial<LinkRecord>,
): LinkRecord {
  if (a.extMask !== undefined) unsupported('IFLA_EXT_MASK in a request to make a link');
  const given = freeName(namespace, a.ifname ?? `${name}%d`);
  const link: LinkRecord = {
    index: namespace.nextIndex(),
    name: given,
    kind: name,
    address: a.address ?? namespace.machine.nextMac(),
    addressIsSet: a.address !== undefined,
    mtu: a.mtu ?? kind.mtu,
    mtuIsSet: false,
    up: false,
    promiscuous: false,
    allmulti: false,
    txQueueLength: a.txqlen ?? kind.txQueueLength,
    group: a.group ?? 0,
    altNames: [],
    vlans: [],
    wasUp: false,
    ipv6Ready: false,
    hasElected: name === 'bridge' && a.address !== undefined,
    ...initialState(name),
    ...special,
  };
  namespace.links.set(link.index, link);
  namespace.settings.addLink(link.index);
  return link;
}

function publish(namespace: Namespace, link: LinkRecord): void {
  namespace.notifier.publish('link', describeLink(namespace, link));
}

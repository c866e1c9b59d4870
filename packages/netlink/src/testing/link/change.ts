/** Changing links, in the order in which the kernel does — do_setlink in net/core/rtnetlink.c */
import type { LinkMessage } from '../../link/codec.ts';
import { IFF } from '../../link/fields.ts';
import { refreshPortEntries } from '../bridge/fdb.ts';
import { followPorts, joinMaster, leaveMaster } from '../bridge/membership.ts';
import { joinDefaultVlan } from '../bridge/vlans.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse, refuseUnknown } from '../core/refusal.ts';
import { setUp } from './admin.ts';
import { describeLink } from './describe.ts';
import { linkAt, linksAbove } from './find.ts';
import { checkedBridge } from './kind-data.ts';
import { kindOfLink } from './kinds.ts';
import { checkMtu, VXLAN_HEADERS } from './limits.ts';
import { checkAddress, targetOf } from './make.ts';
import { freeName } from './names.ts';
import type { InfoData, LinkRecord } from './record.ts';
import { moveLink } from './remove.ts';

/** Makes the changes of a request to a link. As in the kernel, those before one that is refused stay. */
export function changeLink(asker: Namespace, link: LinkRecord, message: LinkMessage): void {
  const { attributes: a } = message;
  const namespace = targetOf(asker, a.netnsFd);
  const named = message.index > 0 ? a.ifname : undefined;
  const index = moveLink(asker, link.index, namespace, named);
  const now = () => namespace.links.get(index) ?? refuse('ENODEV');
  const put = (change: Partial<LinkRecord>) => namespace.links.set(index, { ...now(), ...change });

  if (a.address !== undefined) changeAddress(namespace, now(), a.address);
  if (a.mtu !== undefined) changeMtu(namespace, now(), a.mtu);
  if (a.group !== undefined) put({ group: a.group });
  if (named !== undefined && named !== now().name) rename(namespace, now(), named);
  if (a.ifalias !== undefined) changeAlias(namespace, now(), a.ifalias);
  if (a.master !== undefined && a.master !== (now().master ?? 0)) {
    if (a.master === 0) leaveMaster(namespace, index);
    else joinMaster(namespace, index, a.master);
  }
  if (message.flags !== 0 || message.change !== 0) changeFlags(namespace, index, message);
  if (a.txqlen !== undefined) put({ txQueueLength: a.txqlen });
  namespace.notifier.publish('link', describeLink(namespace, now()));
}

/** Changes what only links of this kind have. */
export function changeData(namespace: Namespace, link: LinkRecord, kind: string, given: InfoData): void {
  refuseUnknown('IFLA_INFO_DATA', given);
  if (kind !== link.kind) refuse('EOPNOTSUPP');
  switch (kind) {
    case 'bridge': {
      const before = link.data?.bridge ?? {};
      const bridge = { ...before, ...checkedBridge(namespace, given.bridge ?? {}) };
      namespace.links.set(link.index, { ...link, data: { bridge } });
      if (bridge.defaultVlan !== before.defaultVlan) {
        joinDefaultVlan(namespace, link.index, before.defaultVlan ?? 0, bridge.defaultVlan ?? 0);
      }
      return;
    }
    case 'macvlan':
    case 'ipvlan': {
      const data = { [kind]: { ...link.data?.[kind], ...given[kind] } };
      namespace.links.set(link.index, { ...link, data });
      return;
    }
    case 'vxlan': {
      const vxlan = { ...link.data?.vxlan, ...given.vxlan };
      if (vxlan.id !== link.data?.vxlan?.id) refuse('EOPNOTSUPP', 'Cannot change VNI');
      if (vxlan.port !== link.data?.vxlan?.port) refuse('EOPNOTSUPP', 'Cannot change port');
      namespace.links.set(link.index, { ...link, data: { vxlan } });
      return;
    }
    case 'vlan': {
      const { id, protocol } = link.data?.vlan ?? {};
      const wanted = given.vlan ?? {};
      if ((wanted.id ?? id) !== id || (wanted.protocol ?? protocol) !== protocol) refuse('EOPNOTSUPP');
      return;
    }
    default:
      refuse('EOPNOTSUPP');
  }
}

function changeAddress(namespace: Namespace, link: LinkRecord, address: Uint8Array): void {
  checkAddress(address);
  const hasElected = link.hasElected || link.kind === 'bridge';
  const changed = { ...link, address, addressIsSet: true, hasElected };
  namespace.links.set(link.index, changed);
  if (link.port !== undefined) refreshPortEntries(namespace, link, changed);
  followPorts(namespace, link.master);
}

function changeMtu(namespace: Namespace, link: LinkRecord, mtu: number): void {
  if (mtu === link.mtu) return;
  checkMtu(kindOfLink(link), mtu);
  const below = link.kind === 'veth' ? undefined : linkAt(link.lower);
  const room = (below?.mtu ?? Number.POSITIVE_INFINITY) - (link.kind === 'vxlan' ? VXLAN_HEADERS : 0);
  if (mtu > room) refuse(link.kind === 'vlan' ? 'ERANGE' : 'EINVAL');
  namespace.links.set(link.index, { ...link, mtu, mtuIsSet: true });
  followPorts(namespace, link.master);
  // What sits on it cannot send more than it.
  for (const at of linksAbove(namespace, link)) {
    const above = linkAt(at);
    if (above !== undefined && above.kind !== 'vxlan' && above.mtu > mtu) {
      at.namespace.links.set(at.index, { ...above, mtu });
    }
  }
}

function rename(namespace: Namespace, link: LinkRecord, name: string): void {
  const given = freeName(namespace, name);
  namespace.links.set(link.index, { ...link, name: given });
}

const ALIAS_MAX = 255;

function changeAlias(namespace: Namespace, link: LinkRecord, alias: string): void {
  if (Buffer.byteLength(alias) > ALIAS_MAX) refuse('ERANGE', 'Attribute failed policy validation');
  const { alias: _, ...rest } = link;
  namespace.links.set(link.index, alias === '' ? rest : { ...rest, alias });
}

function changeFlags(namespace: Namespace, index: number, { flags, change }: LinkMessage): void {
  // Without a mask, all flags are meant.
  const mask = change === 0 ? ~0 : change;
  const wants = (bit: number, now: boolean) => ((mask & bit) === 0 ? now : (flags & bit) !== 0);
  const link = namespace.links.get(index) ?? refuse('ENODEV');
  namespace.links.set(index, {
    ...link,
    promiscuous: wants(IFF.PROMISC, link.promiscuous),
    allmulti: wants(IFF.ALLMULTI, link.allmulti),
  });
  setUp(namespace, index, wants(IFF.UP, link.up));
}

/** Joining and leaving bridges and VRFs — do_set_master, net/bridge/br_if.c, drivers/net/vrf.c */
import { encode } from '@heddle/wire';
import { bridgeMessage } from '../../bridge/codec.ts';
import { AF } from '../../core/family.ts';
import { RTM } from '../../core/rtm.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse } from '../core/refusal.ts';
import { setUp } from '../link/admin.ts';
import { linksAbove, membersOf } from '../link/find.ts';
import { kindOfLink } from '../link/kinds.ts';
import type { LinkRecord } from '../link/record.ts';
import { removeHops } from '../route/store.ts';
import { addPortEntries, dropPortEntries } from './fdb.ts';
import { FRESH_PORT } from './record.ts';

/** Puts a link into the bridge or VRF of that index, out of the one that it was in. */
export function joinMaster(namespace: Namespace, index: number, master: number): void {
  leaveMaster(namespace, index);
  const link = namespace.links.get(index) ?? refuse('ENODEV');
  const above = namespace.links.get(master) ?? refuse('EINVAL');
  if (above.kind === 'bridge') joinBridge(namespace, link, above);
  else if (above.kind === 'vrf') joinVrf(namespace, link, above);
  else refuse('EOPNOTSUPP');
}

/** Takes a link out of its bridge or VRF, if it is in one. */
export function leaveMaster(namespace: Namespace, index: number): void {
  const link = namespace.links.get(index);
  if (link?.master === undefined) return;
  const { master, port: _port, ...rest } = link;
  const above = namespace.links.get(master);
  if (above?.kind === 'vrf') {
    cycle(namespace, index, () => namespace.links.set(index, rest));
    return;
  }
  dropPortEntries(namespace, link);
  namespace.links.set(index, { ...rest, vlans: [] });
  if (above !== undefined) namespace.links.set(master, { ...above, hasElected: true });
  namespace.notifier.publish('link', describePort(link, RTM.DELLINK));
  followPorts(namespace, master);
}

/** A port's MTU or address changed, or it came or went: a bridge that nobody gave its own follows. */
export function followPorts(namespace: Namespace, master: number | undefined): void {
  const bridge = master === undefined ? undefined : namespace.links.get(master);
  if (bridge?.kind !== 'bridge') return;
  const ports = membersOf(namespace, bridge.index);
  const mtu = ports.length === 0 ? DEFAULT_MTU : Math.min(...ports.map((port) => port.mtu));
  const addresses = ports.map(({ address }) => address).toSorted(Buffer.compare);
  const address = addresses[0] ?? new Uint8Array(6);
  namespace.links.set(bridge.index, {
    ...bridge,
    ...(!bridge.mtuIsSet && { mtu }),
    ...(!bridge.addressIsSet && {
      address,
      hasElected: bridge.hasElected || Buffer.compare(address, bridge.address) !== 0,
    }),
  });
}

/** The message that tells of a port. */
export function describePort({ index, name, master, port }: LinkRecord, type: number = RTM.NEWLINK) {
  const attributes = {
    ifname: name,
    ...(master !== undefined && { master }),
    ...(port && { port: port.attributes }),
  };
  return { type, flags: 0, body: encode(bridgeMessage, { family: AF.BRIDGE, index, attributes }) };
}

const DEFAULT_MTU = 1500;

function joinBridge(namespace: Namespace, link: LinkRecord, bridge: LinkRecord): void {
  const hasAddress = link.address.some((byte) => byte !== 0);
  if (link.kind === undefined || !hasAddress) refuse('EINVAL');
  if (link.kind === 'bridge') refuse('ELOOP', 'Can not enslave a bridge to a bridge');
  if (!kindOfLink(link).bridgeable) refuse('EOPNOTSUPP', 'Device does not allow enslaving to a bridge');
  const kinds = linksAbove(namespace, link).map((at) => at.namespace.links.get(at.index)?.kind);
  if (kinds.includes('macvlan') || kinds.includes('ipvlan')) refuse('EBUSY');
  const id = bridge.data?.bridge?.defaultVlan ?? 0;
  const hasVlans = id > 0 && !namespace.machine.missingKinds.has('bridge-vlan');
  const joined: LinkRecord = {
    ...link,
    master: bridge.index,
    port: FRESH_PORT,
    vlans: hasVlans ? [{ id, pvid: true, untagged: true }] : [],
  };
  namespace.links.set(link.index, joined);
  addPortEntries(namespace, joined);
  followPorts(namespace, bridge.index);
  namespace.notifier.publish('link', describePort(joined));
}

function joinVrf(namespace: Namespace, link: LinkRecord, vrf: LinkRecord): void {
  if (link.kind === 'vrf') refuse('EINVAL', 'Can not enslave an L3 master device to a VRF');
  cycle(namespace, link.index, () => namespace.links.set(link.index, { ...link, master: vrf.index }));
}

/** Takes the link down for a change of its table, so that all its routes come anew. */
function cycle(namespace: Namespace, index: number, change: () => void): void {
  const wasUp = namespace.links.get(index)?.up === true;
  setUp(namespace, index, false);
  removeHops(namespace, 4, index, false);
  const down = namespace.links.get(index);
  change();
  const now = namespace.links.get(index);
  if (down !== undefined && now !== undefined) {
    namespace.links.set(index, { ...now, up: false, ipv6Ready: false });
  }
  if (wasUp) setUp(namespace, index, true);
}

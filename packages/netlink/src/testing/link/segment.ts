/** Which links a frame from a link reaches: the other end of a veth, and through bridges their other ports. */
import type { Namespace } from '../core/namespace.ts';
import { linkAt, membersOf } from './find.ts';
import type { LinkAt, LinkRecord } from './record.ts';

/** The links that take in an untagged broadcast from `link`, in all namespaces. */
export function reachableFrom(namespace: Namespace, link: LinkRecord): LinkAt[] {
  const found: LinkAt[] = [];
  const seen = new Set<LinkRecord>([link]);
  const take = (at: LinkAt): void => {
    const other = linkAt(at);
    if (other === undefined || !other.up || seen.has(other)) return;
    seen.add(other);
    if (other.master === undefined) found.push(at);
    else flood(at.namespace, other, take);
  };
  if (link.kind === 'veth' && link.lower !== undefined) take(link.lower);
  if (link.kind === 'bridge') leave(namespace, link, undefined, take);
  return found;
}

/** A frame comes in by a port: it leaves by the others, and the bridge itself takes it in. */
function flood(namespace: Namespace, port: LinkRecord, take: (at: LinkAt) => void): void {
  const bridge = port.master === undefined ? undefined : namespace.links.get(port.master);
  if (bridge?.kind !== 'bridge' || port.port?.attributes.state !== 'forwarding') return;
  if (shares(bridge, port, bridge)) take({ namespace, index: bridge.index });
  leave(namespace, bridge, port, take);
}

function leave(
  namespace: Namespace,
  bridge: LinkRecord,
  from: LinkRecord | undefined,
  take: (at: LinkAt) => void,
): void {
  for (const port of membersOf(namespace, bridge.index)) {
    const isolated = from?.port?.attributes.isolated && port.port?.attributes.isolated;
    if (port === from || isolated || port.port?.attributes.state !== 'forwarding') continue;
    if (port.lower === undefined || !shares(bridge, from ?? bridge, port)) continue;
    take(port.lower);
  }
}

/** Whether what comes in without a tag by one leaves without a tag by the other. */
function shares(bridge: LinkRecord, from: LinkRecord, to: LinkRecord): boolean {
  if (bridge.data?.bridge?.vlanFiltering !== true) return true;
  const pvid = from.vlans.find((vlan) => vlan.pvid)?.id;
  return to.vlans.some(({ id, untagged }) => id === pvid && untagged);
}

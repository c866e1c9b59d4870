/**
 * Carriers and operational states, brought up to date after every change: what the kernel's link watch does in
 * a work queue of its own — net/core/link_watch.c, net/bridge/br_stp_if.c.
 */
import { beginIpv6 } from '../address/ipv6.ts';
import type { Machine } from '../core/machine.ts';
import type { Namespace } from '../core/namespace.ts';
import { describeLink, isOperational } from './describe.ts';
import { linkAt, membersOf } from './find.ts';
import { kindOfLink } from './kinds.ts';
import type { LinkRecord, Operstate } from './record.ts';

/** Lets every link notice what happened to those that it depends on. */
export function watchLinks(machine: Machine): void {
  // A change travels from link to link, at most once through each.
  for (let changed = true; changed; ) {
    changed = false;
    for (const namespace of machine.namespaces.values()) {
      for (const link of namespace.links.values()) {
        if (watch(namespace, link)) changed = true;
      }
    }
  }
}

/** The state that a link tells of itself when it is made. */
export function initialState(kind: string): Pick<LinkRecord, 'carrier' | 'operstate'> {
  return kind === 'veth' ? { carrier: false, operstate: 'down' } : { carrier: true, operstate: 'unknown' };
}

function watch(namespace: Namespace, link: LinkRecord): boolean {
  const carrier = carrierOf(namespace, link);
  const operstate = carrier && link.carrier ? link.operstate : operstateOf(namespace, link, carrier);
  const port = link.port && portOf(namespace, { ...link, carrier, operstate });
  if (carrier === link.carrier && operstate === link.operstate && port === link.port) return false;
  if (port !== link.port) elect(namespace, link.master);
  const now: LinkRecord = { ...link, carrier, operstate, ...(port && { port }) };
  namespace.links.set(link.index, now);
  namespace.notifier.publish('link', describeLink(namespace, now));
  if (now.up && isOperational(now) && !now.ipv6Ready) beginIpv6(namespace, now);
  return true;
}

function carrierOf(namespace: Namespace, link: LinkRecord): boolean {
  switch (kindOfLink(link).carrier) {
    case 'always':
      return true;
    case 'peer':
      return link.up && linkAt(link.lower)?.up === true;
    case 'lower': {
      const lower = linkAt(link.lower);
      return lower?.up === true && lower.carrier;
    }
    case 'ports':
      if (!link.hasElected) return link.carrier;
      return membersOf(namespace, link.index).some(({ port }) => port?.attributes.state === 'forwarding');
  }
}

/** default_operstate: without a carrier, whether the link below is to blame. */
function operstateOf(namespace: Namespace, { index, lower }: LinkRecord, carrier: boolean): Operstate {
  if (carrier) return 'up';
  if (lower === undefined || lower.index === index) return 'down';
  // The kernel looks in this namespace, whichever the link below is in.
  const below = namespace.links.get(lower.index);
  return below !== undefined && !below.carrier ? 'lowerlayerdown' : 'down';
}

/** A port's state changed: its bridge looks at all of them, and has a carrier only with one that forwards. */
function elect(namespace: Namespace, master: number | undefined): void {
  const bridge = master === undefined ? undefined : namespace.links.get(master);
  if (bridge !== undefined && !bridge.hasElected)
    namespace.links.set(bridge.index, { ...bridge, hasElected: true });
}

function portOf(namespace: Namespace, link: LinkRecord): LinkRecord['port'] {
  const { port, master } = link;
  const bridge = master === undefined ? undefined : namespace.links.get(master);
  if (port === undefined || bridge === undefined) return port;
  const enabled = bridge.up && link.up && isOperational(link);
  if (enabled === port.enabled) return port;
  const waits = bridge.data?.bridge?.stp === true;
  const state = enabled ? (waits ? 'listening' : 'forwarding') : 'disabled';
  return { enabled, attributes: { ...port.attributes, state } };
}

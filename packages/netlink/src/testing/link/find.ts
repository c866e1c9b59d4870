/** Finding links, and what hangs together with them. */
import type { Namespace } from '../core/namespace.ts';
import { refuse } from '../core/refusal.ts';
import type { LinkAt, LinkRecord } from './record.ts';

/** How a request names a link. */
export interface LinkKey {
  readonly index?: number | undefined;
  readonly name?: string | undefined;
}

/** The link of that index, else of that name, be it an alternative one. */
export function findLink(namespace: Namespace, { index, name }: LinkKey): LinkRecord | undefined {
  if (index !== undefined && index > 0) return namespace.links.get(index);
  if (name === undefined) return undefined;
  for (const link of namespace.links.values()) {
    if (link.name === name || link.altNames.includes(name)) return link;
  }
  return undefined;
}

/** Like {@link findLink}, but refuses what is not there with ENODEV. */
export function needLink(namespace: Namespace, key: LinkKey): LinkRecord {
  return findLink(namespace, key) ?? refuse('ENODEV');
}

/** The link at a place. */
export function linkAt(at: LinkAt | undefined): LinkRecord | undefined {
  return at?.namespace.links.get(at.index);
}

/** The ports of a bridge, the members of a VRF. */
export function membersOf(namespace: Namespace, master: number): LinkRecord[] {
  return [...namespace.links.values()].filter((link) => link.master === master);
}

/** The links that sit on a link, in all namespaces; not the other end of a veth. */
export function linksAbove(namespace: Namespace, { index, kind }: LinkRecord): LinkAt[] {
  if (kind === 'veth') return above(namespace, index).filter((at) => linkAt(at)?.kind !== 'veth');
  return above(namespace, index);
}

function above(below: Namespace, index: number): LinkAt[] {
  const found: LinkAt[] = [];
  for (const namespace of below.machine.namespaces.values()) {
    for (const link of namespace.links.values()) {
      if (link.lower?.namespace === below && link.lower.index === index) {
        found.push({ namespace, index: link.index });
      }
    }
  }
  return found;
}

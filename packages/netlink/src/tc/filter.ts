/** Filters, which choose a class for a packet or act on it, and the requests that make and delete them. */
import { encode } from '@heddle/wire';
import { type Change, type LinkRef, labelOf } from '../core/change.ts';
import { NLM_F } from '../core/header.ts';
import { RTM } from '../core/rtm.ts';
import { type FilterMessage, filterMessage } from './codec.ts';
import { formatHandle, tcHandle } from './handle.ts';
import { type Matchall, matchallAttributes, matchallOf } from './kinds/matchall.ts';
import { type U32Filter, u32FilterAttributes, u32FilterOf } from './kinds/u32.ts';

/** A filter at a discipline or class. */
export interface TrafficFilter {
  /** The link's index. */
  readonly link: number;
  readonly kind: string;
  readonly handle: number;
  /** The discipline, class or place (`TC_H`) that it sits at. */
  readonly parent: number;
  /** Filters are tried from the lowest to the highest. */
  readonly priority: number;
  /** Ethernet type; 3 is all. */
  readonly protocol: number;
  readonly u32?: U32Filter;
  readonly matchall?: Matchall;
  /** The options of other kinds, as they are in messages. */
  readonly options?: Uint8Array;
}

/** A filter to make. */
export type TrafficFilterSpec = {
  readonly link: LinkRef;
  /** Such as `tcHandle(0xffff)` for the `ingress` discipline. */
  readonly parent: number;
  readonly handle?: number | undefined;
  /** Chosen by the kernel when left out. */
  readonly priority?: number | undefined;
  /** Ethernet type; 3, all, when left out. */
  readonly protocol?: number | undefined;
} & (
  | ({ readonly kind: 'u32' } & U32Filter)
  | ({ readonly kind: 'matchall' } & Matchall)
  | { readonly kind: 'raw'; readonly name: string; readonly options?: Uint8Array | undefined }
);

/** Which filters to delete: all at the place, or those with this priority, or one. */
export interface TrafficFilterKey {
  readonly link: LinkRef;
  readonly parent: number;
  readonly handle?: number | undefined;
  readonly priority?: number | undefined;
  readonly protocol?: number | undefined;
  readonly kind?: string | undefined;
}

/** The filter that a message describes; `undefined` for what belongs to a kind and not to a filter. */
export function filterOf(message: FilterMessage): TrafficFilter | undefined {
  const { kind = '', options } = message.attributes;
  const u32 = options?.u32 && u32FilterOf(options.u32);
  if (message.handle === 0 || (kind === 'u32' && u32 === undefined)) return undefined;
  return {
    link: message.index,
    kind,
    handle: message.handle,
    parent: message.parent,
    priority: message.info >>> 16,
    protocol: swapped(message.info & 0xffff),
    ...(u32 && { u32 }),
    ...(options?.matchall && { matchall: matchallOf(options.matchall) }),
    ...(options?.raw && { options: options.raw }),
  };
}

/** The request that makes a filter. */
export function addFilter(spec: TrafficFilterSpec): Change {
  const { link, parent, handle } = spec;
  const kind = spec.kind === 'raw' ? spec.name : spec.kind;
  return async (indexOf) => ({
    type: RTM.NEWTFILTER,
    flags: NLM_F.CREATE | NLM_F.EXCL,
    operation: `add ${kind} filter to ${labelOf(link)} at ${formatHandle(parent)}`,
    body: encode(filterMessage, {
      index: await indexOf(link),
      handle,
      parent,
      info: infoOf(spec.priority, spec.protocol ?? ETH_P_ALL),
      attributes: { kind, options: optionsOf(spec) },
    }),
  });
}

/** The request that deletes filters. */
export function deleteFilter(key: TrafficFilterKey): Change {
  const { link, parent, handle, kind } = key;
  return async (indexOf) => ({
    type: RTM.DELTFILTER,
    operation: `delete filters of ${labelOf(link)} at ${formatHandle(parent)}`,
    body: encode(filterMessage, {
      index: await indexOf(link),
      handle,
      parent,
      info: infoOf(key.priority, key.protocol ?? 0),
      attributes: { kind },
    }),
  });
}

const ETH_P_ALL = 3;

/** TC_H_MAKE(priority, htons(protocol)) */
function infoOf(priority = 0, protocol: number): number {
  return tcHandle(priority, swapped(protocol));
}

/** An Ethernet type as it lies in `tcm_info`: in network order, whichever the host's is. */
function swapped(protocol: number): number {
  return new Uint16Array(Uint8Array.of(protocol >>> 8, protocol & 0xff).buffer)[0] ?? 0;
}

function optionsOf(spec: TrafficFilterSpec) {
  switch (spec.kind) {
    case 'u32':
      return { u32: u32FilterAttributes(spec) };
    case 'matchall':
      return { matchall: matchallAttributes(spec) };
    case 'raw':
      return spec.options && { raw: spec.options };
  }
}

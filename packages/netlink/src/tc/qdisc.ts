/** Queueing disciplines, and the requests that make and delete them. */
import { encode } from '@heddle/wire';
import { type Change, type LinkRef, labelOf } from '../core/change.ts';
import { NLM_F } from '../core/header.ts';
import { RTM } from '../core/rtm.ts';
import { type QdiscMessage, type QdiscRequest, qdiscMessage, statsOf, type TcStats } from './codec.ts';
import { TC_H, tcHandle } from './handle.ts';
import { type Htb, htbAttributes, htbOf } from './kinds/htb.ts';
import { type Tbf, tbfAttributes, tbfOf } from './kinds/tbf.ts';

/** How packets of a link wait. */
export interface Qdisc {
  /** The link's index. */
  readonly link: number;
  readonly kind: string;
  /** Major number in the upper half, such as `tcHandle(1)`. */
  readonly handle: number;
  /** The class or place (`TC_H`) that it sits at. */
  readonly parent: number;
  readonly tbf?: Tbf;
  readonly htb?: Htb;
  /** The options of other kinds, as they are in messages. */
  readonly options?: Uint8Array;
  readonly stats: TcStats;
}

/** A discipline to make. */
export type QdiscSpec = {
  readonly link: LinkRef;
  /** Chosen by the kernel when left out. */
  readonly handle?: number | undefined;
  /** `TC_H.ROOT` when left out; `ingress` and `clsact` have a place of their own. */
  readonly parent?: number | undefined;
} & (
  | ({ readonly kind: 'tbf' } & Tbf)
  | ({ readonly kind: 'htb' } & Htb)
  | { readonly kind: 'ingress' | 'clsact' }
  | { readonly kind: 'raw'; readonly name: string; readonly options?: Uint8Array | undefined }
);

/** Which discipline to delete. */
export interface QdiscKey {
  readonly link: LinkRef;
  readonly handle?: number | undefined;
  /** `TC_H.ROOT` when left out. */
  readonly parent?: number | undefined;
}

/** The discipline that a message describes. */
export function qdiscOf(message: QdiscMessage): Qdisc {
  const { kind = '', options, stats } = message.attributes;
  const tbf = options?.tbf && tbfOf(options.tbf);
  const htb = options?.htb && htbOf(options.htb);
  return {
    link: message.index,
    kind,
    handle: message.handle,
    parent: message.parent,
    ...(tbf && { tbf }),
    ...(htb && { htb }),
    ...(options?.raw && { options: options.raw }),
    stats: statsOf(stats),
  };
}

/** The request that makes a discipline. */
export function addQdisc(spec: QdiscSpec): Change {
  return newQdisc('add', NLM_F.CREATE | NLM_F.EXCL, spec);
}

/** The request that makes a discipline in place of the one that is there. */
export function replaceQdisc(spec: QdiscSpec): Change {
  return newQdisc('replace', NLM_F.CREATE | NLM_F.REPLACE, spec);
}

/** The request that deletes a discipline. */
export function deleteQdisc({ link, handle, parent = TC_H.ROOT }: QdiscKey): Change {
  return async (indexOf) => ({
    type: RTM.DELQDISC,
    operation: `delete qdisc of ${labelOf(link)}`,
    body: encode(qdiscMessage, { index: await indexOf(link), handle, parent }),
  });
}

function newQdisc(verb: string, flags: number, spec: QdiscSpec): Change {
  const { link, ...place } = { ...placeOf(spec), link: spec.link };
  const kind = spec.kind === 'raw' ? spec.name : spec.kind;
  return async (indexOf) => ({
    type: RTM.NEWQDISC,
    flags,
    operation: `${verb} ${kind} qdisc to ${labelOf(link)}`,
    body: encode(qdiscMessage, {
      ...place,
      index: await indexOf(link),
      attributes: { kind, options: optionsOf(spec) },
    }),
  });
}

function placeOf(spec: QdiscSpec): { handle: number | undefined; parent: number } {
  if (spec.kind === 'ingress' || spec.kind === 'clsact') {
    return { handle: tcHandle(0xffff), parent: TC_H.INGRESS };
  }
  return { handle: spec.handle, parent: spec.parent ?? TC_H.ROOT };
}

function optionsOf(spec: QdiscSpec): NonNullable<QdiscRequest['attributes']>['options'] {
  switch (spec.kind) {
    case 'tbf':
      return { tbf: tbfAttributes(spec) };
    case 'htb':
      return { htb: htbAttributes(spec) };
    case 'raw':
      return spec.options && { raw: spec.options };
    default:
      return undefined;
  }
}

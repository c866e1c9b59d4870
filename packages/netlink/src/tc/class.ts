/** Traffic classes, and the requests that make and delete them. */
import { encode } from '@heddle/wire';
import { type Change, type LinkRef, labelOf } from '../core/change.ts';
import { NLM_F } from '../core/header.ts';
import { RTM } from '../core/rtm.ts';
import { type ClassMessage, classMessage, statsOf, type TcStats } from './codec.ts';
import { formatHandle } from './handle.ts';
import { type HtbClass, htbClassAttributes, htbClassOf } from './kinds/htb.ts';

/** A class of a discipline. */
export interface TrafficClass {
  /** The link's index. */
  readonly link: number;
  readonly kind: string;
  /** Such as `tcHandle(1, 0x10)`. */
  readonly handle: number;
  /** The class or discipline above. */
  readonly parent: number;
  readonly htb?: HtbClass;
  /** The options of other kinds, as they are in messages. */
  readonly options?: Uint8Array;
  readonly stats: TcStats;
}

/** A class to make. */
export type TrafficClassSpec = {
  readonly link: LinkRef;
  readonly handle: number;
  readonly parent: number;
} & (
  | ({ readonly kind: 'htb' } & HtbClass)
  | { readonly kind: 'raw'; readonly name: string; readonly options?: Uint8Array | undefined }
);

/** Which class to delete. */
export interface TrafficClassKey {
  readonly link: LinkRef;
  readonly handle: number;
}

/** The class that a message describes. */
export function classOf(message: ClassMessage): TrafficClass {
  const { kind = '', options, stats } = message.attributes;
  const htb = options?.htb && htbClassOf(options.htb);
  return {
    link: message.index,
    kind,
    handle: message.handle,
    parent: message.parent,
    ...(htb && { htb }),
    ...(options?.raw && { options: options.raw }),
    stats: statsOf(stats),
  };
}

/** The request that makes a class. */
export function addClass(spec: TrafficClassSpec): Change {
  return newClass('add', NLM_F.CREATE | NLM_F.EXCL, spec);
}

/** The request that makes a class or changes it. */
export function replaceClass(spec: TrafficClassSpec): Change {
  return newClass('replace', NLM_F.CREATE | NLM_F.REPLACE, spec);
}

/** The request that deletes a class. */
export function deleteClass({ link, handle }: TrafficClassKey): Change {
  return async (indexOf) => ({
    type: RTM.DELTCLASS,
    operation: `delete class ${formatHandle(handle)} of ${labelOf(link)}`,
    body: encode(classMessage, { index: await indexOf(link), handle }),
  });
}

function newClass(verb: string, flags: number, spec: TrafficClassSpec): Change {
  const { link, handle, parent } = spec;
  const kind = spec.kind === 'raw' ? spec.name : spec.kind;
  const options =
    spec.kind === 'raw' ? spec.options && { raw: spec.options } : { htb: htbClassAttributes(spec) };
  return async (indexOf) => ({
    type: RTM.NEWTCLASS,
    flags,
    operation: `${verb} ${kind} class ${formatHandle(handle)} to ${labelOf(link)}`,
    body: encode(classMessage, { index: await indexOf(link), handle, parent, attributes: { kind, options } }),
  });
}

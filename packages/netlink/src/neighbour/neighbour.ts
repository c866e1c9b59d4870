/** A neighbour (ARP or NDP entry), and the requests that make and delete one. */
import { type Addr, Mac } from '@heddle/netaddr';
import { encode } from '@heddle/wire';
import { type Change, type LinkRef, labelOf } from '../core/change.ts';
import { afOf, familyOf } from '../core/family.ts';
import { NLM_F } from '../core/header.ts';
import { RTM } from '../core/rtm.ts';
import { type NeighbourMessage, NTF, NUD, neighbourMessage } from './codec.ts';

/** What the kernel knows about an address on a link. */
export interface Neighbour {
  /** The link's index. */
  readonly link: number;
  readonly address: Addr;
  readonly mac?: Mac;
  /** NUD_*: 0x02 reachable, 0x04 stale, 0x20 failed, 0x40 no ARP, 0x80 permanent … */
  readonly state: number;
  /** NTF_* */
  readonly flags: number;
  /** Whether this host answers for it. */
  readonly proxy: boolean;
  /** RTPROT_*: who made it. */
  readonly protocol?: number;
}

/** A neighbour to make. */
export interface NeighbourSpec {
  readonly link: LinkRef;
  readonly address: Addr;
  /** Absent for a proxy entry. */
  readonly mac?: Mac | undefined;
  /** NUD_*; permanent (0x80) when left out. */
  readonly state?: number | undefined;
  /** NTF_* */
  readonly flags?: number | undefined;
  /** This host is to answer for the address. */
  readonly proxy?: boolean | undefined;
  /** RTPROT_*: a tag of the maker. */
  readonly protocol?: number | undefined;
}

/** Which neighbour to delete. */
export type NeighbourKey = Pick<NeighbourSpec, 'link' | 'address' | 'proxy'>;

/** The neighbour that a message describes; `undefined` for families other than IP. */
export function neighbourOf(message: NeighbourMessage): Neighbour | undefined {
  const { dst, linkAddress, protocol } = message.attributes;
  if (dst === undefined || familyOf(message.family) === undefined) return undefined;
  return {
    link: message.index,
    address: dst,
    ...(linkAddress?.length === 6 && { mac: Mac.fromBytes(linkAddress) }),
    state: message.state,
    flags: message.flags,
    proxy: (message.flags & NTF.PROXY) !== 0,
    ...(protocol !== undefined && { protocol }),
  };
}

/** The request that makes a neighbour. */
export function addNeighbour(spec: NeighbourSpec): Change {
  return newNeighbour('add', NLM_F.CREATE | NLM_F.EXCL, spec);
}

/** The request that makes a neighbour or changes it. */
export function replaceNeighbour(spec: NeighbourSpec): Change {
  return newNeighbour('replace', NLM_F.CREATE | NLM_F.REPLACE, spec);
}

/** The request that deletes a neighbour. */
export function deleteNeighbour(key: NeighbourKey): Change {
  return async (indexOf) => ({
    type: RTM.DELNEIGH,
    operation: operationOf('delete', key),
    body: encode(neighbourMessage, {
      family: afOf(key.address.family),
      index: await indexOf(key.link),
      flags: key.proxy ? NTF.PROXY : 0,
      attributes: { dst: key.address },
    }),
  });
}

function newNeighbour(verb: string, flags: number, spec: NeighbourSpec): Change {
  return async (indexOf) => ({
    type: RTM.NEWNEIGH,
    flags,
    operation: operationOf(verb, spec),
    body: encode(neighbourMessage, {
      family: afOf(spec.address.family),
      index: await indexOf(spec.link),
      state: spec.state ?? NUD.PERMANENT,
      flags: (spec.flags ?? 0) | (spec.proxy ? NTF.PROXY : 0),
      attributes: { dst: spec.address, linkAddress: spec.mac?.toBytes(), protocol: spec.protocol },
    }),
  });
}

function operationOf(verb: string, { link, address, proxy }: NeighbourKey): string {
  return `${verb} ${proxy ? 'proxy ' : ''}neighbour ${address} dev ${labelOf(link)}`;
}

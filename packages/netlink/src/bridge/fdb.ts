/** Forwarding entries of bridges and VXLANs, and the requests that make and delete them. */
import { type Addr, Mac } from '@heddle/netaddr';
import { encode } from '@heddle/wire';
import { type Change, type LinkRef, labelOf } from '../core/change.ts';
import { AF } from '../core/family.ts';
import { NLM_F } from '../core/header.ts';
import { RTM } from '../core/rtm.ts';
import { type NeighbourMessage, NTF, NUD, neighbourMessage } from '../neighbour/codec.ts';

/** Where frames to a MAC go. */
export interface FdbEntry {
  /** Index of the port or VXLAN that they leave by. */
  readonly link: number;
  readonly mac: Mac;
  /** Of a VXLAN: the remote end. */
  readonly dst?: Addr;
  readonly vlan?: number;
  readonly vni?: number;
  /** Of a VXLAN: the remote UDP port, where it is not the usual one. */
  readonly port?: number;
  /** Index of the bridge that holds the entry. */
  readonly master?: number;
  /** NUD_*: 0x80 permanent, 0x40 static, 0x02 learned … */
  readonly state: number;
  /** NTF_* */
  readonly flags: number;
  /** Set up and never aged; on a bridge, an address of its own. */
  readonly permanent: boolean;
  /** Held by the link itself, not by its bridge. */
  readonly self: boolean;
  /** RTPROT_*: who made it. */
  readonly protocol?: number;
}

/** An entry to make. */
export interface FdbSpec {
  readonly link: LinkRef;
  readonly mac: Mac;
  readonly dst?: Addr | undefined;
  readonly vlan?: number | undefined;
  readonly vni?: number | undefined;
  readonly port?: number | undefined;
  /** The underlying link that frames leave by. */
  readonly via?: LinkRef | undefined;
  /** `true` when left out; `false` makes one that is aged and can move. */
  readonly permanent?: boolean | undefined;
  /** NUD_*, in place of `permanent`; 0x40 makes a static entry. */
  readonly state?: number | undefined;
  /** NTF_* beyond self and master. */
  readonly flags?: number | undefined;
  /** In the link's own table; so it is when neither this nor `master` is given. */
  readonly self?: boolean | undefined;
  /** In the table of the link's bridge. */
  readonly master?: boolean | undefined;
  /** RTPROT_*: a tag of the maker. */
  readonly protocol?: number | undefined;
}

/** Which entry to delete. */
export type FdbKey = Pick<
  FdbSpec,
  'link' | 'mac' | 'dst' | 'vlan' | 'vni' | 'port' | 'via' | 'self' | 'master'
>;

/** The entry that a message describes. */
export function fdbEntryOf(message: NeighbourMessage): FdbEntry | undefined {
  const { state, flags, attributes: a } = message;
  if (a.linkAddress?.length !== 6) return undefined;
  return {
    link: message.index,
    mac: Mac.fromBytes(a.linkAddress),
    ...(a.dst && { dst: a.dst }),
    ...(a.vlan !== undefined && { vlan: a.vlan }),
    ...(a.vni !== undefined && { vni: a.vni }),
    ...(a.port !== undefined && { port: a.port }),
    ...(a.master !== undefined && { master: a.master }),
    state,
    flags,
    permanent: (state & NUD.PERMANENT) !== 0,
    self: (flags & NTF.SELF) !== 0,
    ...(a.protocol !== undefined && { protocol: a.protocol }),
  };
}

/** The request that makes an entry. */
export function addFdb(spec: FdbSpec): Change {
  return fdbChange(RTM.NEWNEIGH, NLM_F.CREATE | NLM_F.EXCL, 'add', spec);
}

/** The request that makes an entry or changes it. */
export function replaceFdb(spec: FdbSpec): Change {
  return fdbChange(RTM.NEWNEIGH, NLM_F.CREATE | NLM_F.REPLACE, 'replace', spec);
}

/** The request that gives an entry one more remote end, as a VXLAN's entry for unknown MACs has. */
export function appendFdb(spec: FdbSpec): Change {
  return fdbChange(RTM.NEWNEIGH, NLM_F.CREATE | NLM_F.APPEND, 'append', spec);
}

/** The request that deletes an entry. */
export function deleteFdb(key: FdbKey): Change {
  return fdbChange(RTM.DELNEIGH, 0, 'delete', key);
}

function fdbChange(type: number, flags: number, verb: string, spec: FdbSpec): Change {
  const { link, mac, dst, via, permanent = true } = spec;
  const self = spec.self ?? !spec.master;
  const where = (self ? NTF.SELF : 0) | (spec.master ? NTF.MASTER : 0);
  return async (indexOf) => ({
    type,
    flags,
    operation: `${verb} fdb entry ${mac}${dst === undefined ? '' : ` dst ${dst}`} dev ${labelOf(link)}`,
    body: encode(neighbourMessage, {
      family: AF.BRIDGE,
      index: await indexOf(link),
      state: spec.state ?? (permanent ? NUD.PERMANENT : NUD.REACHABLE),
      flags: (spec.flags ?? 0) | where,
      attributes: {
        dst,
        linkAddress: mac.toBytes(),
        vlan: spec.vlan,
        port: spec.port,
        vni: spec.vni,
        ifindex: via === undefined ? undefined : await indexOf(via),
        protocol: spec.protocol,
      },
    }),
  });
}

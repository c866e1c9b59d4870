/** The requests that make, change and delete links. */
import type { Mac } from '@heddle/netaddr';
import { encode, type Input } from '@heddle/wire';
import { type Change, type IndexOf, type LinkRef, labelOf, type NetnsTarget } from '../core/change.ts';
import { NLM_F } from '../core/header.ts';
import type { Message } from '../core/message.ts';
import { RTM } from '../core/rtm.ts';
import { type LinkRequest, type linkInfo, linkMessage } from './codec.ts';
import { IFF } from './fields.ts';
import type { bridge } from './kinds/bridge.ts';
import { type GeneveSpec, geneveAttributes } from './kinds/geneve.ts';
import type { ipip } from './kinds/ipip.ts';
import type { ipvlan } from './kinds/ipvlan.ts';
import type { macvlan } from './kinds/macvlan.ts';
import type { vlan } from './kinds/vlan.ts';
import type { vrf } from './kinds/vrf.ts';
import { type VxlanSpec, vxlanAttributes } from './kinds/vxlan.ts';

/** What any new link may be given. */
export interface LinkSpecBase {
  readonly name: string;
  readonly mac?: Mac | undefined;
  readonly mtu?: number | undefined;
  /** Whether it is up from the start. */
  readonly up?: boolean | undefined;
  /** The bridge or VRF that it joins. */
  readonly master?: LinkRef | undefined;
  /** The link that it sits on (vlan, macvlan, ipvlan, vxlan). */
  readonly parent?: LinkRef | undefined;
  /** The namespace in which it is made; `parent` and `master` are looked up in the session's. */
  readonly netns?: NetnsTarget | undefined;
  readonly group?: number | undefined;
  readonly txQueueLength?: number | undefined;
  /** How many queues it has, for sending and for receiving; the kernel's choice when left out. */
  readonly queues?: number | undefined;
}

/** The other end of a veth pair. The kernel cannot set it up in the message that makes it. */
export interface VethPeer {
  readonly name: string;
  readonly mac?: Mac | undefined;
  readonly mtu?: number | undefined;
  /** The namespace in which it is made; the session's own without, wherever the first end is. */
  readonly netns?: NetnsTarget | undefined;
  readonly group?: number | undefined;
  readonly queues?: number | undefined;
}

/** What a new link of one kind is given. */
export type LinkKindSpec =
  | { readonly kind: 'veth'; readonly peer: VethPeer }
  | { readonly kind: 'dummy' | 'ifb' | 'wireguard' }
  | LinkDataSpec;

/** The options of a kind, for making a link and for changing one. */
export type LinkDataSpec =
  | ({ readonly kind: 'bridge' } & Options<typeof bridge>)
  | ({ readonly kind: 'vlan' } & Options<typeof vlan>)
  | ({ readonly kind: 'macvlan' | 'macvtap' } & Options<typeof macvlan>)
  | ({ readonly kind: 'ipvlan' } & Options<typeof ipvlan>)
  | ({ readonly kind: 'vxlan' } & VxlanSpec)
  | ({ readonly kind: 'geneve' } & GeneveSpec)
  | ({ readonly kind: 'ipip' } & Options<typeof ipip>)
  | ({ readonly kind: 'vrf' } & Options<typeof vrf>);

type Options<C> = Omit<Input<C>, 'unknown'>;

/** A link to make. */
export type LinkSpec = LinkSpecBase & LinkKindSpec;

/** What of a link may be changed, all in one message. */
export interface LinkChange {
  readonly up?: boolean | undefined;
  /** Kernels before 6.2 rename only links that are down. */
  readonly name?: string | undefined;
  readonly mac?: Mac | undefined;
  readonly mtu?: number | undefined;
  /** At most 255 bytes; the empty text clears it. */
  readonly alias?: string | undefined;
  /** 0 takes it out of its bridge. */
  readonly master?: LinkRef | undefined;
  /** Moves it there. */
  readonly netns?: NetnsTarget | undefined;
  readonly promiscuous?: boolean | undefined;
  readonly allmulti?: boolean | undefined;
  readonly txQueueLength?: number | undefined;
  readonly group?: number | undefined;
  /** Options of its kind. */
  readonly data?: LinkDataSpec | undefined;
}

/** The request that makes a link. */
export function addLink(spec: LinkSpec): Change {
  return (indexOf) =>
    withIndexes(indexOf, [spec.parent, spec.master], ([parent, master]) =>
      message(RTM.NEWLINK, NLM_F.CREATE | NLM_F.EXCL, `add link ${spec.name} (${spec.kind})`, {
        ...flagsOf({ up: spec.up }),
        attributes: {
          ...commonOf(spec),
          ifname: spec.name,
          // A VXLAN names its underlying device among its own data.
          link: spec.kind === 'vxlan' ? undefined : parent,
          master,
          linkInfo: infoOf(spec, parent),
        },
      }),
    );
}

/** The request that changes a link. */
export function setLink(ref: LinkRef, change: LinkChange): Change {
  // Only RTM_NEWLINK heeds IFLA_LINKINFO of a link that exists.
  const type = change.data === undefined ? RTM.SETLINK : RTM.NEWLINK;
  return (indexOf) =>
    withIndexes(indexOf, [ref, change.master], ([index, master]) =>
      message(type, 0, `set link ${labelOf(ref)}`, {
        index,
        ...flagsOf(change),
        attributes: {
          ...commonOf(change),
          ifname: change.name,
          ifalias: change.alias,
          master,
          linkInfo: change.data && infoOf(change.data, undefined),
        },
      }),
    );
}

/** The request that deletes a link. */
export function deleteLink(ref: LinkRef): Change {
  return () => message(RTM.DELLINK, 0, `delete link ${labelOf(ref)}`, refOf(ref));
}

/** The request that deletes all links of a group. */
export function deleteLinkGroup(group: number): Change {
  return () => message(RTM.DELLINK, 0, `delete links of group ${group}`, { attributes: { group } });
}

/** How a request names a link, where its name is not to be changed. */
export function refOf(ref: LinkRef): LinkRequest {
  if (typeof ref === 'number') return { index: ref };
  return { attributes: ref.length > IFNAME_MAX ? { altIfname: ref } : { ifname: ref } };
}

/** IFNAMSIZ without the NUL. */
const IFNAME_MAX = 15;

function message(type: number, flags: number, operation: string, request: LinkRequest): Message {
  return { type, flags, operation, body: encode(linkMessage, request) };
}

type Indexes = readonly [first: number | undefined, second: number | undefined];

/** The request that the indexes of two links go into, one after the other: at once where they are at hand. */
function withIndexes(
  indexOf: IndexOf,
  [first, second]: readonly [LinkRef | undefined, LinkRef | undefined],
  make: (indexes: Indexes) => Message,
): Message | Promise<Message> {
  if (typeof first === 'string' || typeof second === 'string')
    return lookUp(indexOf, first, second).then(make);
  return make([first, second]);
}

async function lookUp(
  indexOf: IndexOf,
  first: LinkRef | undefined,
  second: LinkRef | undefined,
): Promise<Indexes> {
  return [
    first === undefined ? undefined : await indexOf(first),
    second === undefined ? undefined : await indexOf(second),
  ];
}

function commonOf(spec: Omit<LinkSpecBase, 'name'>): NonNullable<LinkRequest['attributes']> {
  return {
    address: spec.mac?.toBytes(),
    mtu: spec.mtu,
    txqlen: spec.txQueueLength,
    txQueues: spec.queues,
    rxQueues: spec.queues,
    group: spec.group,
    netnsFd: spec.netns?.number,
  };
}

function flagsOf(change: Pick<LinkChange, 'up' | 'promiscuous' | 'allmulti'>) {
  const { up, promiscuous, allmulti } = change;
  const flags = (up ? IFF.UP : 0) | (promiscuous ? IFF.PROMISC : 0) | (allmulti ? IFF.ALLMULTI : 0);
  const mask =
    (up === undefined ? 0 : IFF.UP) |
    (promiscuous === undefined ? 0 : IFF.PROMISC) |
    (allmulti === undefined ? 0 : IFF.ALLMULTI);
  return { flags, change: mask };
}

function infoOf(spec: LinkKindSpec, parent: number | undefined): Input<typeof linkInfo> {
  const { kind } = spec;
  switch (spec.kind) {
    case 'veth': {
      const { peer } = spec;
      return { kind, data: { veth: { peer: { attributes: { ...commonOf(peer), ifname: peer.name } } } } };
    }
    case 'dummy':
    case 'ifb':
    case 'wireguard':
      return { kind };
    case 'vxlan':
      return { kind, data: { vxlan: vxlanAttributes(spec, parent) } };
    case 'geneve':
      return { kind, data: { geneve: geneveAttributes(spec) } };
    default:
      // A set writes the attributes that it declares and looks at nothing else.
      return { kind, data: { [spec.kind]: spec } };
  }
}

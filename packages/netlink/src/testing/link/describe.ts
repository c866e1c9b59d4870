/** A link as the message that tells of it. */
import { encode } from '@heddle/wire';
import type { Reply } from '../../core/message.ts';
import { RTM } from '../../core/rtm.ts';
import { type LinkRequest, linkMessage } from '../../link/codec.ts';
import { IFF } from '../../link/fields.ts';
import type { Namespace } from '../core/namespace.ts';
import { kindOfLink } from './kinds.ts';
import type { LinkRecord } from './record.ts';

const IFF_LOWER_UP = 0x10000;

/** IFF_* as users see them. */
function flagsOf(link: LinkRecord): number {
  let flags = kindOfLink(link).flags;
  if (link.promiscuous) flags |= IFF.PROMISC;
  if (link.allmulti) flags |= IFF.ALLMULTI;
  if (!link.up) return flags;
  flags |= IFF.UP;
  if (isOperational(link)) flags |= IFF.RUNNING;
  return link.carrier ? flags | IFF_LOWER_UP : flags;
}

/** RFC 2863: whether packets can pass. A link of which nothing was noticed yet is taken to be so. */
export function isOperational({ operstate }: LinkRecord): boolean {
  return operstate === 'up' || operstate === 'unknown';
}

/** The message that describes a link. */
export function describeLink(namespace: Namespace, link: LinkRecord, type: number = RTM.NEWLINK): Reply {
  const { lower, data, port, master } = link;
  const bridged = port !== undefined && master !== undefined;
  const elsewhere = lower !== undefined && lower.namespace !== namespace;
  const info = {
    kind: link.kind,
    data,
    ...(bridged && { slaveKind: 'bridge', slaveData: { bridge: port.attributes } }),
  };
  const request: LinkRequest = {
    type: kindOfLink(link).type,
    index: link.index,
    flags: flagsOf(link),
    attributes: {
      ifname: link.name,
      txqlen: link.txQueueLength,
      operstate: link.up ? link.operstate : 'down',
      mtu: link.mtu,
      group: link.group,
      promiscuity: promiscuityOf(namespace, link),
      txQueues: 1,
      rxQueues: 1,
      ...(lower !== undefined && { link: lower.index }),
      ...(elsewhere && { linkNetnsid: namespace.idOf(lower.namespace) }),
      ...(master !== undefined && { master }),
      ...(link.alias !== undefined && { ifalias: link.alias }),
      ...(link.altNames.length > 0 && { propertyList: { altNames: link.altNames } }),
      address: link.address,
      ...((link.kind !== undefined || bridged) && { linkInfo: info }),
    },
  };
  return { type, flags: 0, body: encode(linkMessage, request) };
}

/** How many asked for all packets: the user, and a bridge that floods to more than one port. */
function promiscuityOf(namespace: Namespace, link: LinkRecord): number {
  return Number(link.promiscuous) + Number(isFlooded(namespace, link));
}

/** Whether a bridge has the port take in all packets — br_manage_promisc in net/bridge/br_if.c */
function isFlooded(namespace: Namespace, { index, port, master }: LinkRecord): boolean {
  if (port === undefined || master === undefined) return false;
  const bridge = namespace.links.get(master);
  if (bridge === undefined) return false;
  if (bridge.promiscuous || bridge.data?.bridge?.vlanFiltering !== true) return true;
  const automatic = [...namespace.links.values()].filter(
    (link) => link.master === master && link.port?.attributes.flood && link.port.attributes.learning,
  );
  return automatic.length > 1 || (automatic.length === 1 && automatic[0]?.index !== index);
}

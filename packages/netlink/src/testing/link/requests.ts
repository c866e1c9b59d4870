/** RTM_NEWLINK, RTM_SETLINK, RTM_DELLINK, RTM_GETLINK */
import { decode } from '@heddle/wire';
import { AF } from '../../core/family.ts';
import { NLM_F } from '../../core/header.ts';
import { RTM } from '../../core/rtm.ts';
import { type LinkMessage, linkMessage } from '../../link/codec.ts';
import { leaveVlans, listPorts, setPort } from '../bridge/requests.ts';
import type { Handler, Handlers } from '../core/handler.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse, refuseUnknown } from '../core/refusal.ts';
import { addAlternativeNames, deleteAlternativeNames } from './alternative-names.ts';
import { changeData, changeLink } from './change.ts';
import { describeLink } from './describe.ts';
import { findLink, needLink } from './find.ts';
import { isLoopback } from './kinds.ts';
import { makeLink, targetOf } from './make.ts';
import type { LinkRecord } from './record.ts';
import { deleteLink } from './remove.ts';

/** What the table of links does. */
export const linkHandlers: readonly (readonly [number, Handlers])[] = [
  [RTM.NEWLINK, { change: byFamily(newLink, refused) }],
  [RTM.SETLINK, { change: byFamily(setLink, setPort) }],
  [RTM.DELLINK, { change: byFamily(removeLink, leaveVlans) }],
  [RTM.NEWLINKPROP, { change: addAlternativeNames }],
  [RTM.DELLINKPROP, { change: deleteAlternativeNames }],
  [RTM.GETLINK, { dump: byFamily(listLinks, listPorts), get: byFamily(getLink, refused) }],
];

/** Messages of AF_BRIDGE are about ports. */
function byFamily(links: Handler, ports: Handler): Handler {
  return (namespace, request) => (request.body[0] === AF.BRIDGE ? ports : links)(namespace, request);
}

function refused(): never {
  refuse('EOPNOTSUPP');
}

function newLink(namespace: Namespace, { flags, body }: { flags: number; body: Uint8Array }): undefined {
  const message = read(body);
  const { ifname, altIfname, netnsFd, linkInfo } = message.attributes;
  const key = { index: message.index, name: ifname ?? altIfname };
  // A link that is named by its index is here; one that is to be made must not be there.
  const where = message.index > 0 ? namespace : targetOf(namespace, netnsFd);
  const present = findLink(where, key);
  if (present === undefined) {
    if (message.index > 0 && (flags & NLM_F.CREATE) === 0) refuse('ENODEV');
    if ((flags & NLM_F.CREATE) === 0) refuse('ENODEV');
    makeLink(namespace, message);
    return undefined;
  }
  if ((flags & NLM_F.EXCL) !== 0) refuse('EEXIST');
  if ((flags & NLM_F.REPLACE) !== 0) refuse('EOPNOTSUPP');
  if (linkInfo?.kind !== undefined && linkInfo.data !== undefined) {
    changeData(where, present, linkInfo.kind, linkInfo.data);
  }
  changeLink(where, where.links.get(present.index) ?? present, message);
  return undefined;
}

function setLink(namespace: Namespace, { body }: { body: Uint8Array }): undefined {
  const message = read(body);
  changeLink(namespace, needLink(namespace, keyOf(message)), message);
  return undefined;
}

function removeLink(namespace: Namespace, { body }: { body: Uint8Array }): undefined {
  const message = read(body);
  const key = keyOf(message);
  const { group } = message.attributes;
  if (message.index === 0 && key.name === undefined && group !== undefined) {
    removeGroup(namespace, group);
    return undefined;
  }
  const link = needLink(namespace, key);
  if (isLoopback(link)) refuse('EOPNOTSUPP');
  deleteLink(namespace, link.index);
  return undefined;
}

function removeGroup(namespace: Namespace, group: number): void {
  if (group === 0) refuse('EPERM');
  const links = [...namespace.links.values()].filter((link) => link.group === group);
  if (links.length === 0) refuse('ENODEV');
  if (links.some(isLoopback)) refuse('EOPNOTSUPP');
  for (const { index } of links) deleteLink(namespace, index);
}

function getLink(namespace: Namespace, { body }: { body: Uint8Array }) {
  return [describeLink(namespace, needLink(namespace, keyOf(read(body))))];
}

function listLinks(namespace: Namespace, { body }: { body: Uint8Array }) {
  const { master, linkInfo } = read(body).attributes;
  return inOrder(namespace)
    .filter((link) => master === undefined || link.master === master)
    .filter((link) => linkInfo?.kind === undefined || link.kind === linkInfo.kind)
    .map((link) => describeLink(namespace, link));
}

/** The links of a namespace by their indexes. */
export function inOrder({ links }: Namespace): LinkRecord[] {
  return [...links.values()].toSorted((a, b) => a.index - b.index);
}

function read(body: Uint8Array): LinkMessage {
  const message = decode(linkMessage, body);
  refuseUnknown('IFLA', message);
  return message;
}

function keyOf({ index, attributes: { ifname, altIfname } }: LinkMessage) {
  return { index, name: ifname ?? altIfname };
}

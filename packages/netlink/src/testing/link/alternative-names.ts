/** RTM_NEWLINKPROP, RTM_DELLINKPROP: names that a link has beside its own — rtnl_linkprop in net/core/rtnetlink.c */
import { decode } from '@heddle/wire';
import { linkMessage } from '../../link/codec.ts';
import type { Handler } from '../core/handler.ts';
import { refuse, refuseUnknown } from '../core/refusal.ts';
import { findLink, needLink } from './find.ts';

/** Gives a link more names. */
export const addAlternativeNames: Handler = (namespace, { body }) => {
  const { key, names } = read(body);
  for (const name of names) {
    if (name.length > NAME_MAX) refuse('ERANGE', 'Attribute failed policy validation');
    if (findLink(namespace, { name }) !== undefined) refuse('EEXIST');
    const link = needLink(namespace, key);
    namespace.links.set(link.index, { ...link, altNames: [...link.altNames, name] });
  }
  return undefined;
};

/** Takes names of a link away. */
export const deleteAlternativeNames: Handler = (namespace, { body }) => {
  const { key, names } = read(body);
  for (const name of names) {
    const link = needLink(namespace, key);
    if (!link.altNames.includes(name)) refuse('ENOENT');
    namespace.links.set(link.index, { ...link, altNames: link.altNames.filter((each) => each !== name) });
  }
  return undefined;
};

/** ALTIFNAMSIZ without the NUL. */
const NAME_MAX = 127;

function read(body: Uint8Array) {
  const message = decode(linkMessage, body);
  refuseUnknown('IFLA', message);
  const { ifname, altIfname, propertyList } = message.attributes;
  return { key: { index: message.index, name: ifname ?? altIfname }, names: propertyList?.altNames ?? [] };
}

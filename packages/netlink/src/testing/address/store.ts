/** The addresses of a namespace: their messages, and telling of them. */
import { encode } from '@heddle/wire';
import { addressMessage, FOREVER } from '../../address/codec.ts';
import { afOf, type Family } from '../../core/family.ts';
import type { Reply } from '../../core/message.ts';
import { RTM } from '../../core/rtm.ts';
import type { Namespace } from '../core/namespace.ts';
import type { AddressRecord } from './record.ts';

/** The addresses of a family of a link, in order. */
export function addressesOf(namespace: Namespace, family: Family, link: number): readonly AddressRecord[] {
  return namespace.addresses.filter((each) => each.family === family && each.link === link);
}

/** Puts an address before another one of its link, by default at the end, and tells of it. */
export function insertAddress(namespace: Namespace, address: AddressRecord, before?: AddressRecord): void {
  const at = before === undefined ? namespace.addresses.length : namespace.addresses.indexOf(before);
  namespace.addresses = namespace.addresses.toSpliced(at, 0, address);
  publish(namespace, address, RTM.NEWADDR);
}

/** Puts a changed address in the place of what it was, and tells of it. */
export function changeAddress(namespace: Namespace, old: AddressRecord, address: AddressRecord): void {
  namespace.addresses = namespace.addresses.map((each) => (each === old ? address : each));
  publish(namespace, address, RTM.NEWADDR);
}

/** Takes an address away, and tells of it. */
export function dropAddress(namespace: Namespace, address: AddressRecord): void {
  namespace.addresses = namespace.addresses.filter((each) => each !== address);
  publish(namespace, address, RTM.DELADDR);
}

/** The message that describes an address. */
export function describeAddress(address: AddressRecord, type: number = RTM.NEWADDR): Reply {
  const { family, local, valid, preferred, flags, label, broadcast, protocol } = address;
  const forever = valid === FOREVER;
  const body = encode(addressMessage, {
    family: afOf(family),
    prefixLength: address.bits,
    flags: flags & 0xff,
    scope: address.scope,
    index: address.link,
    attributes: {
      address: address.address,
      // IPv6 tells of IFA_LOCAL only where there is another end.
      ...((family === 4 || !address.address.equals(local)) && { local }),
      label,
      broadcast,
      cacheInfo: { valid: forever ? FOREVER : valid, preferred, created: 0, updated: 0 },
      flags,
      ...(address.metric > 0 && { metric: address.metric }),
      ...(protocol !== undefined && { protocol }),
    },
  });
  return { type, flags: 0, body };
}

function publish(namespace: Namespace, address: AddressRecord, type: number): void {
  namespace.notifier.publish(address.family === 4 ? 'address4' : 'address6', describeAddress(address, type));
}

/** RTM_NEWADDR, RTM_DELADDR, RTM_GETADDR */
import { decode } from '@heddle/wire';
import { type AddressMessage, addressMessage, FOREVER, IFA_F } from '../../address/codec.ts';
import { type Family, familyOf } from '../../core/family.ts';
import { NLM_F } from '../../core/header.ts';
import { RTM } from '../../core/rtm.ts';
import { RT_SCOPE } from '../../route/codec.ts';
import type { Handlers } from '../core/handler.ts';
import type { Namespace } from '../core/namespace.ts';
import { refuse, refuseUnknown } from '../core/refusal.ts';
import type { LinkRecord } from '../link/record.ts';
import { listGroups } from './groups.ts';
import { addAddress4, deleteAddress4 } from './ipv4.ts';
import { addAddress6, deleteAddress6 } from './ipv6.ts';
import type { AddressRecord } from './record.ts';
import { addressesOf, changeAddress, describeAddress } from './store.ts';

/** What the tables of addresses do. */
export const addressHandlers: readonly (readonly [number, Handlers])[] = [
  [RTM.NEWADDR, { change: (namespace, { flags, body }) => add(namespace, flags, read(body)) }],
  [RTM.DELADDR, { change: (namespace, { body }) => remove(namespace, read(body)) }],
  [RTM.GETADDR, { dump: (namespace, { body }) => list(namespace, read(body)) }],
  [RTM.GETMULTICAST, { dump: (namespace, { body }) => listGroups(namespace, read(body)) }],
];

function read(body: Uint8Array): AddressMessage {
  const message = decode(addressMessage, body);
  refuseUnknown('IFA', message);
  return message;
}

function add(namespace: Namespace, flags: number, message: AddressMessage): undefined {
  const link = linkOf(namespace, message);
  const wanted = wantedAddress(link, message);
  const { family, local, bits } = wanted;
  const present = addressesOf(namespace, family, link.index).find(
    (each) =>
      each.local.equals(local) &&
      (family === 6 || (each.bits === bits && each.address.equals(wanted.address))),
  );
  if (present !== undefined && (flags & NLM_F.REPLACE) !== 0 && (flags & NLM_F.EXCL) === 0) {
    const kept = present.flags & (IFA_F.TENTATIVE | IFA_F.SECONDARY | IFA_F.DADFAILED);
    const { broadcast, label, protocol, metric, scope } = present;
    changeAddress(namespace, present, {
      ...wanted,
      scope,
      metric: wanted.metric === 0 ? metric : wanted.metric,
      flags: wanted.flags | kept,
      ...(broadcast && { broadcast }),
      ...(label !== undefined && { label }),
      ...(wanted.protocol === undefined && protocol !== undefined && { protocol }),
    });
  } else if (family === 4) {
    addAddress4(namespace, link, wanted);
  } else {
    addAddress6(namespace, link, wanted);
  }
  return undefined;
}

function wantedAddress(link: LinkRecord, message: AddressMessage): AddressRecord {
  const family = familyOf(message.family) ?? refuse('EOPNOTSUPP');
  const { attributes: a, prefixLength: bits } = message;
  const local = a.local ?? a.address ?? refuse('EINVAL');
  if (bits > local.bits) refuse('EINVAL', `ipv${family}: Invalid prefix length`);
  const { valid = FOREVER, preferred = FOREVER } = a.cacheInfo ?? {};
  if (valid === 0) refuse('EINVAL', `ipv${family}: address lifetime invalid`);
  if (preferred > valid) refuse('EINVAL', `ipv${family}: preferred lifetime greater than valid`);
  const given = (a.flags ?? message.flags) & ~(IFA_F.PERMANENT | IFA_F.TENTATIVE | IFA_F.SECONDARY);
  return {
    family,
    link: link.index,
    local,
    address: a.address ?? local,
    bits,
    scope: family === 4 ? message.scope : scopeOf(local),
    flags: given | (valid === FOREVER ? IFA_F.PERMANENT : 0),
    metric: a.metric ?? 0,
    valid,
    preferred,
    ...(family === 4 && { label: a.label ?? link.name }),
    ...(a.broadcast && { broadcast: a.broadcast }),
    ...(a.protocol !== undefined && { protocol: a.protocol }),
  };
}

function scopeOf(local: AddressRecord['local']): number {
  if (local.isLoopback) return RT_SCOPE.HOST;
  return local.isLinkLocal ? RT_SCOPE.LINK : 0;
}

function remove(namespace: Namespace, message: AddressMessage): undefined {
  const family = familyOf(message.family) ?? refuse('EOPNOTSUPP');
  const link = namespace.links.get(message.index) ?? refuse('ENODEV', `ipv${family}: ${NO_DEVICE[family]}`);
  const { local, address, label } = message.attributes;
  const found = addressesOf(namespace, family, link.index).find((each) =>
    family === 4
      ? (local === undefined || each.local.equals(local)) &&
        (label === undefined || each.label === label) &&
        (address === undefined || (each.bits === message.prefixLength && each.address.equals(address)))
      : each.bits === message.prefixLength && each.local.equals(local ?? address ?? each.address),
  );
  if (found === undefined)
    refuse('EADDRNOTAVAIL', `ipv${family}: ${family === 4 ? 'A' : 'a'}ddress not found`);
  if (family === 4) deleteAddress4(namespace, link, found);
  else deleteAddress6(namespace, link, found);
  return undefined;
}

const NO_DEVICE: Readonly<Record<Family, string>> = {
  4: 'Device not found',
  6: 'Unable to find the interface',
};

function linkOf(namespace: Namespace, { index, family }: AddressMessage): LinkRecord {
  const version = familyOf(family) ?? refuse('EOPNOTSUPP');
  return namespace.links.get(index) ?? refuse('ENODEV', `ipv${version}: ${NO_DEVICE[version]}`);
}

function list(namespace: Namespace, { family: af, index }: AddressMessage) {
  const family = familyOf(af);
  if (index > 0 && !namespace.links.has(index)) refuse('ENODEV');
  return namespace.addresses
    .filter(
      (each) => (family === undefined || each.family === family) && (index === 0 || each.link === index),
    )
    .toSorted((a, b) => a.family - b.family || a.link - b.link)
    .map((address) => describeAddress(address));
}

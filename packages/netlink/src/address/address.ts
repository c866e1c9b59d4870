/** An address of a link, and the requests that make and delete one. */
import type { Addr, Prefix } from '@heddle/netaddr';
import { encode } from '@heddle/wire';
import { type Change, type LinkRef, labelOf, withIndex } from '../core/change.ts';
import { afOf } from '../core/family.ts';
import { NLM_F } from '../core/header.ts';
import { prefixOf } from '../core/prefix-of.ts';
import { RTM } from '../core/rtm.ts';
import { type AddressMessage, addressMessage, FOREVER, IFA_F } from './codec.ts';

/** An address of a link. */
export interface Address {
  /** The link's index. */
  readonly link: number;
  /** The address with the length of its network. */
  readonly prefix: Prefix;
  /** The other end of a point-to-point link. */
  readonly peer?: Addr;
  readonly broadcast?: Addr;
  /** RT_SCOPE_*: 0 global, 253 link, 254 host. */
  readonly scope: number;
  readonly label?: string;
  /** IFA_F_* */
  readonly flags: number;
  /** IPv6: duplicate address detection is under way; the address cannot be used yet. */
  readonly tentative: boolean;
  /** IPv6: another host has it. */
  readonly dadFailed: boolean;
  /** Without a lifetime. */
  readonly permanent: boolean;
  /** IFAPROT_*: who made it; kernels from 5.18. */
  readonly protocol?: number;
}

/** An address to add to a link. */
export interface AddressSpec {
  readonly link: LinkRef;
  readonly prefix: Prefix;
  /** `auto`: the last address of an IPv4 network larger than /31. None when left out. */
  readonly broadcast?: Addr | 'auto' | undefined;
  readonly peer?: Addr | undefined;
  /** RT_SCOPE_*: 0, global, when left out. */
  readonly scope?: number | undefined;
  readonly label?: string | undefined;
  /** IPv6: usable at once, without duplicate address detection. */
  readonly noDad?: boolean | undefined;
  /** Whether the kernel makes no route to the address's network. */
  readonly noPrefixRoute?: boolean | undefined;
  /** IFAPROT_*: a tag of the maker. */
  readonly protocol?: number | undefined;
  /** Metric of the route to the address's network. */
  readonly metric?: number | undefined;
  /** Seconds; for ever when left out. */
  readonly validLifetime?: number | undefined;
  /** Seconds; as long as it is valid when left out. */
  readonly preferredLifetime?: number | undefined;
}

/** Which address to delete. */
export type AddressKey = Pick<AddressSpec, 'link' | 'prefix' | 'peer'>;

/** The address that a message describes; `undefined` for families other than IP. */
export function addressOf(message: AddressMessage): Address | undefined {
  const { address, local, ...rest } = message.attributes;
  const own = local ?? address;
  if (own === undefined) return undefined;
  const flags = rest.flags ?? message.flags;
  return {
    link: message.index,
    prefix: prefixOf(own, message.prefixLength, 'ifaddrmsg'),
    ...(address !== undefined && !address.equals(own) && { peer: address }),
    ...(rest.broadcast && { broadcast: rest.broadcast }),
    scope: message.scope,
    ...(rest.label !== undefined && { label: rest.label }),
    flags,
    tentative: (flags & IFA_F.TENTATIVE) !== 0,
    dadFailed: (flags & IFA_F.DADFAILED) !== 0,
    permanent: (flags & IFA_F.PERMANENT) !== 0,
    ...(rest.protocol !== undefined && { protocol: rest.protocol }),
  };
}

/** The request that adds an address. */
export function addAddress(spec: AddressSpec): Change {
  return newAddress('add', NLM_F.CREATE | NLM_F.EXCL, spec);
}

/** The request that adds an address or changes its attributes. */
export function replaceAddress(spec: AddressSpec): Change {
  return newAddress('replace', NLM_F.CREATE | NLM_F.REPLACE, spec);
}

/** The request that deletes an address. */
export function deleteAddress(key: AddressKey): Change {
  return (indexOf) =>
    withIndex(indexOf, key.link, (index) => ({
      type: RTM.DELADDR,
      operation: operationOf('delete', key),
      body: encode(addressMessage, { ...headerOf(key), index }),
    }));
}

function newAddress(verb: string, flags: number, spec: AddressSpec): Change {
  const { prefix, broadcast, validLifetime, preferredLifetime } = spec;
  const header = headerOf(spec);
  const body = (index: number) =>
    encode(addressMessage, {
      ...header,
      index,
      scope: spec.scope,
      attributes: {
        ...header.attributes,
        label: spec.label,
        broadcast: broadcast === 'auto' ? prefix.broadcast : broadcast,
        cacheInfo:
          validLifetime === undefined && preferredLifetime === undefined
            ? undefined
            : { valid: validLifetime ?? FOREVER, preferred: preferredLifetime ?? validLifetime },
        flags: flagsOf(spec),
        metric: spec.metric,
        protocol: spec.protocol,
      },
    });
  return (indexOf) =>
    withIndex(indexOf, spec.link, (index) => ({
      type: RTM.NEWADDR,
      flags,
      operation: operationOf(verb, spec),
      body: body(index),
    }));
}

function headerOf({ prefix, peer }: AddressKey) {
  return {
    family: afOf(prefix.family),
    prefixLength: prefix.bits,
    // Of a point-to-point link, IFA_ADDRESS is the other end; of any other, the same as IFA_LOCAL.
    attributes: { local: prefix.addr, address: peer ?? prefix.addr },
  };
}

function flagsOf(spec: AddressSpec): number | undefined {
  const flags = (spec.noDad ? IFA_F.NODAD : 0) | (spec.noPrefixRoute ? IFA_F.NOPREFIXROUTE : 0);
  return flags === 0 ? undefined : flags;
}

function operationOf(verb: string, { link, prefix }: AddressKey): string {
  return `${verb} address ${prefix} dev ${labelOf(link)}`;
}

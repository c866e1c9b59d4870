/** Tables, chains, rules, sets and counters as messages. */
import { encode } from '@heddle/wire';
import { chainMessage } from './codec/chain.ts';
import type { Expression } from './codec/expressions.ts';
import { objectMessage } from './codec/object.ts';
import { ruleMessage } from './codec/rule.ts';
import { NFT_DATA_VERDICT, NFT_OBJECT_COUNTER, NFT_SET, setMessage } from './codec/set.ts';
import { tableMessage } from './codec/table.ts';
import {
  BYTE_ORDER,
  COMMENT,
  itemsOf,
  numberItem,
  SET_USERDATA,
  textItem,
  type UserdataItem,
  userdata,
} from './codec/userdata.ts';
import type { AnonymousSet } from './compile-context.ts';
import { type KeyType, numberOf, typeInfo } from './key-types.ts';
import type { NftChain, NftCounter, NftFamily, NftHook, NftRule, NftSet, NftTable } from './model.ts';
import { NftError } from './nft-error.ts';
import { flagsOf, keyLength, type SetTypes, typesOfSet } from './set-types.ts';

/** The body of NEWTABLE. */
export function encodeTable({ family, name, flags = 0, comment }: NftTable): Uint8Array {
  return encode(tableMessage, { family, attributes: { name, flags, ...noted(comment) } });
}

/** The body of NEWCHAIN. */
export function encodeChain({ family, table, name, base, comment }: NftChain): Uint8Array {
  return encode(chainMessage, {
    family,
    attributes: {
      table,
      name,
      ...noted(comment),
      ...(base === undefined ? {} : hookAttributes(family, base)),
    },
  });
}

/** The body of NEWRULE. */
export function encodeRule(rule: NftRule, expressions: readonly Expression[]): Uint8Array {
  const { family, table, chain, handle, position, compat } = rule;
  const note = ruleUserdata(rule);
  return encode(ruleMessage, {
    family,
    attributes: {
      table,
      chain,
      handle,
      position,
      expressions,
      ...(compat === undefined
        ? {}
        : { compat: { protocol: compat.protocol, flags: compat.inverted === true ? COMPAT_INVERTED : 0 } }),
      userdata: note,
    },
  });
}

/** A listed rule's user data with the rule's comment, which may be another by now. */
function ruleUserdata({ comment, userdata: listed }: NftRule): Uint8Array | undefined {
  if (comment === undefined) return listed;
  const others = listed === undefined ? [] : itemsOf(listed).filter(({ type }) => type !== COMMENT);
  return encode(userdata, [commentItem(comment), ...others]);
}

/** NFT_RULE_COMPAT_F_INV */
const COMPAT_INVERTED = 2;

/** The body of NEWSET. `id` is the set's number in the batch. */
export function encodeSet(set: NftSet, id: number): Uint8Array {
  const types = typesOfSet(set);
  const { family, table, name, timeout, counters, dynamic, size, comment } = set;
  return encode(setMessage, {
    family,
    attributes: {
      table,
      name,
      id,
      ...typeAttributes(types, size),
      flags:
        flagsOf(types) |
        (timeout === undefined ? 0 : NFT_SET.TIMEOUT) |
        (dynamic === true ? NFT_SET.EVAL : 0),
      ...(typeof timeout === 'number' ? { timeout: BigInt(timeout) } : {}),
      userdata: encode(userdata, setUserdata(types, comment)),
      ...(counters === true ? { expression: { expr: 'counter' } } : {}),
    },
  });
}

/** The body of NEWSET for a set without name. `elements` is how many there are, interval ends included. */
export function encodeAnonymousSet(
  where: { readonly family: NftFamily; readonly table: string },
  set: AnonymousSet,
  id: number,
  elements: number,
): Uint8Array {
  const types = anonymousTypes(set);
  return encode(setMessage, {
    family: where.family,
    attributes: {
      table: where.table,
      name: set.verdicts ? '__map%d' : '__set%d',
      id,
      ...typeAttributes(types, elements),
      flags: flagsOf(types) | NFT_SET.ANONYMOUS | NFT_SET.CONSTANT,
      userdata: encode(userdata, setUserdata(types, undefined)),
    },
  });
}

/** The types of a set without name. */
export function anonymousTypes({ key, verdicts, intervals }: AnonymousSet): SetTypes {
  return { key, data: verdicts ? 'verdict' : undefined, intervals };
}

/** The body of NEWOBJ for a named counter. */
export function encodeCounter({
  family,
  table,
  name,
  comment,
  packets = 0n,
  bytes = 0n,
}: NftCounter): Uint8Array {
  return encode(objectMessage, {
    family,
    attributes: { table, name, type: 'counter', ...noted(comment), data: { counter: { packets, bytes } } },
  });
}

/** A comment as user data. */
export function encodeComment(comment: string): Uint8Array {
  return encode(userdata, [commentItem(comment)]);
}

function commentItem(comment: string): UserdataItem {
  const item = textItem(COMMENT, comment);
  if (item.value.length > COMMENT_BYTES + 1) {
    throw new NftError(`a comment of ${item.value.length - 1} bytes (at most ${COMMENT_BYTES}): ${comment}`);
  }
  return item;
}

/** NFT_USERDATA_MAXLEN is 256, less the item's header and the text's NUL. */
const COMMENT_BYTES = 253;

function noted(comment: string | undefined): { readonly userdata?: Uint8Array } {
  return comment === undefined ? {} : { userdata: encodeComment(comment) };
}

function hookAttributes(family: NftFamily, { type, hook, priority, policy, device }: NftHook) {
  const number = hookNumbers(family)[hook];
  if (number === undefined) throw new NftError(`the family ${family} has no hook ${hook}`);
  return {
    type,
    ...(policy === undefined ? {} : { policy }),
    hook: { number, priority, ...(device === undefined ? {} : { device }) },
  } as const;
}

/** NF_INET_*, NF_ARP_*, NF_NETDEV_*: the hooks of a family by name; none of a family that only a newer kernel has. */
export function hookNumbers(family: NftFamily | number): Readonly<Partial<Record<NftHook['hook'], number>>> {
  switch (family) {
    case 'netdev':
      return { ingress: 0, egress: 1 };
    case 'arp':
      return { input: 0, output: 1, forward: 2 };
    case 'inet':
      return { ...INET_HOOKS, ingress: 5 };
    case 'ip':
    case 'ip6':
    case 'bridge':
      return INET_HOOKS;
    default:
      return {};
  }
}

const INET_HOOKS = { prerouting: 0, input: 1, forward: 2, output: 3, postrouting: 4 } as const;

function typeAttributes(types: SetTypes, size: number | undefined) {
  const { key, data, intervals } = types;
  const fields =
    intervals && key.length > 1 ? key.map((type) => ({ length: typeInfo(type).length })) : undefined;
  return {
    keyType: numberOf(key),
    keyLength: keyLength(key),
    ...dataAttributes(data),
    ...(size === undefined && fields === undefined ? {} : { description: { size, fields } }),
  };
}

function dataAttributes(data: SetTypes['data']) {
  if (data === undefined) return {};
  if (data === 'counter') return { objectType: NFT_OBJECT_COUNTER };
  if (data === 'verdict') return { dataType: NFT_DATA_VERDICT, dataLength: 0 };
  return { dataType: numberOf(data), dataLength: keyLength(data) };
}

/** What `nft` wants to find beside a set to print its keys. */
function setUserdata({ key, data }: SetTypes, comment: string | undefined): readonly UserdataItem[] {
  const items = [numberItem(SET_USERDATA.KEY_BYTE_ORDER, byteOrder(key))];
  if (data !== undefined && data !== 'counter') {
    items.push(
      numberItem(SET_USERDATA.DATA_BYTE_ORDER, data === 'verdict' ? BYTE_ORDER.none : byteOrder(data)),
    );
    items.push(numberItem(SET_USERDATA.DATA_INTERVAL, 0));
  }
  if (comment !== undefined) items.push(textItem(SET_USERDATA.COMMENT, comment));
  return items;
}

function byteOrder(types: readonly KeyType[]): number {
  const [only] = types;
  return only === undefined || types.length > 1 ? BYTE_ORDER.none : BYTE_ORDER[typeInfo(only).order];
}

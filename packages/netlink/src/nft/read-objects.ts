/** What the kernel lists, as values. */
import { decode } from '@heddle/wire';
import { chainMessage } from './codec/chain.ts';
import { objectMessage } from './codec/object.ts';
import { ruleMessage } from './codec/rule.ts';
import { NFT_DATA_VERDICT, NFT_SET, setMessage } from './codec/set.ts';
import { tableMessage } from './codec/table.ts';
import { COMMENT, commentIn, itemsOf, SET_USERDATA } from './codec/userdata.ts';
import { type KeyType, typesOf } from './key-types.ts';
import type { ListedRule, NftChain, NftCounter, NftFamily, NftHook, NftSet, NftTable } from './model.ts';
import { hookNumbers } from './write-objects.ts';

/** A table from NEWTABLE. */
export function decodeTable(body: Uint8Array): NftTable {
  const { family, attributes } = decode(tableMessage, body);
  const { name = '', handle, flags = 0, userdata: note } = attributes;
  return {
    kind: 'table',
    family: family as NftFamily,
    name,
    ...(handle === undefined ? {} : { handle }),
    ...(flags === 0 ? {} : { flags }),
    ...commented(note, COMMENT),
  };
}

/** A chain from NEWCHAIN. */
export function decodeChain(body: Uint8Array): NftChain {
  const message = decode(chainMessage, body);
  const family = message.family as NftFamily;
  const { table = '', name = '', handle, type, policy, hook, userdata: note } = message.attributes;
  return {
    kind: 'chain',
    family,
    table,
    name,
    ...(hook === undefined ? {} : { base: decodeHook(family, type, policy, hook) }),
    ...(handle === undefined ? {} : { handle }),
    ...commented(note, COMMENT),
  };
}

/** A rule from NEWRULE. */
export function decodeRule(body: Uint8Array): ListedRule {
  const { family, attributes } = decode(ruleMessage, body);
  const { table = '', chain = '', handle = 0, expressions = [], compat, userdata: note } = attributes;
  return {
    kind: 'rule',
    family: family as NftFamily,
    table,
    chain,
    handle,
    expressions,
    ...(compat === undefined
      ? {}
      : { compat: { protocol: compat.protocol ?? 0, inverted: ((compat.flags ?? 0) & 2) !== 0 } }),
    ...(note === undefined ? {} : { userdata: note }),
    ...commented(note, COMMENT),
  };
}

/** A set or map from NEWSET; `undefined` for one without name, which belongs to its rule. */
export function decodeSet(body: Uint8Array): NftSet | undefined {
  const { family, attributes } = decode(setMessage, body);
  const { table = '', name = '', flags = 0, keyType = 0, keyLength = 0, handle, description } = attributes;
  if ((flags & NFT_SET.ANONYMOUS) !== 0) return undefined;
  const has = (flag: number) => (flags & flag) !== 0;
  const data = decodeDataType(attributes.dataType ?? 0, attributes.dataLength ?? 0, flags);
  const stateful = [attributes.expression, ...(attributes.expressions ?? [])];
  const timeout = Number(attributes.timeout ?? 0);
  return {
    kind: 'set',
    family: family as NftFamily,
    table,
    name,
    key: unlisted(typesOf(keyType, keyLength)),
    ...(data === undefined ? {} : { data }),
    ...(has(NFT_SET.INTERVAL) ? { intervals: true } : {}),
    ...(has(NFT_SET.TIMEOUT) ? { timeout: timeout === 0 ? (true as const) : timeout } : {}),
    ...(stateful.some((each) => each?.expr === 'counter') ? { counters: true } : {}),
    ...(has(NFT_SET.EVAL) ? { dynamic: true } : {}),
    ...(description?.size === undefined ? {} : { size: description.size }),
    ...(handle === undefined ? {} : { handle }),
    ...commented(attributes.userdata, SET_USERDATA.COMMENT),
  };
}

/** A named counter from NEWOBJ; `undefined` for other objects. */
export function decodeCounter(body: Uint8Array): NftCounter | undefined {
  const { family, attributes } = decode(objectMessage, body);
  const { table = '', name = '', type, handle, data, userdata: note } = attributes;
  if (type !== 'counter') return undefined;
  return {
    kind: 'counter',
    family: family as NftFamily,
    table,
    name,
    packets: data?.counter?.packets ?? 0n,
    bytes: data?.counter?.bytes ?? 0n,
    ...(handle === undefined ? {} : { handle }),
    ...commented(note, COMMENT),
  };
}

/** The comment in user data, which need not be of `nft`'s form. */
export function commented(
  bytes: Uint8Array | undefined,
  type: number,
): { readonly comment: string } | Record<string, never> {
  const comment = bytes === undefined ? undefined : commentIn(itemsOf(bytes), type);
  return comment === undefined ? {} : { comment };
}

function decodeHook(
  family: NftFamily,
  type: string | undefined,
  policy: 'accept' | 'drop' | number | undefined,
  hook: { readonly number?: number; readonly priority?: number; readonly device?: string },
): NftHook {
  const name = Object.entries(hookNumbers(family)).find(([, number]) => number === hook.number)?.[0];
  return {
    type: (type ?? 'filter') as NftHook['type'],
    hook: (name ?? String(hook.number)) as NftHook['hook'],
    priority: hook.priority ?? 0,
    ...(policy === undefined ? {} : { policy: policy as NonNullable<NftHook['policy']> }),
    ...(hook.device === undefined ? {} : { device: hook.device }),
  };
}

function decodeDataType(type: number, length: number, flags: number): NftSet['data'] {
  if ((flags & NFT_SET.OBJECT) !== 0) return 'counter';
  if ((flags & NFT_SET.MAP) === 0) return undefined;
  return type === NFT_DATA_VERDICT ? 'verdict' : unlisted(typesOf(type, length));
}

function unlisted(types: readonly KeyType[]): KeyType | readonly KeyType[] {
  const [only] = types;
  return only !== undefined && types.length === 1 ? only : types;
}

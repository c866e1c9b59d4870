/** Elements of sets and maps — nf_tables_newsetelem, nf_tables_delsetelem in net/netfilter/nf_tables_api.c */
import { decode, encode, type Input } from '@heddle/wire';
import { HEADER_SIZE, NLM_F } from '../../core/header.ts';
import type { Reply } from '../../core/message.ts';
import { elementsMessage, type WireElement } from '../../nft/codec/element.ts';
import { NFT_MSG, nftType } from '../../nft/codec/nfgenmsg.ts';
import { NFT_SET } from '../../nft/codec/set.ts';
import { Refusal, refuse, refuseUnknown } from '../core/refusal.ts';
import { checkReachable } from './chain-checks.ts';
import { type Change, type ChangeRequest, resourceOf } from './change.ts';
import { blaming, checkKey, completed, elementKey, isPlainInterval } from './element-items.ts';
import { elementFor, overlaps } from './overlap.ts';
import type { ElementRecord, Ruleset, SetRecord, TableRecord } from './records.ts';
import { isSetUsed } from './references.ts';
import type { Transaction } from './transaction.ts';

type Message = ReturnType<typeof read>;

/** Adds elements. One that is there stays, unless it is to be new or has another value. */
export const newElements: Change = (transaction, { flags, body }) => {
  const message = read(body);
  const { attributes } = message;
  const { table, set } = placeOf(transaction, message);
  if (isFixed(table, set)) refuse('EBUSY');
  pointing(message, () => {
    for (const [at, item] of (attributes.elements ?? []).entries()) {
      blaming(at, () => {
        checkKey(set, item);
        addOne(set, completed(table, set, item), flags);
      });
    }
  });
  if (transaction.isStrict) checkReachable(table);
  transaction.tell(describe(table, set, attributes.elements ?? [], transaction.generation));
};

/** Deletes elements; without any, all of the set. */
export const deleteElements: Change = (transaction, { body }) => {
  const message = read(body);
  const { attributes } = message;
  const { table, set } = placeOf(transaction, message);
  if (isFixed(table, set)) refuse('EBUSY');
  const { elements } = attributes;
  if (elements === undefined) set.elements.clear();
  else {
    pointing(message, () => {
      for (const [at, item] of elements.entries()) {
        blaming(at, () => {
          checkKey(set, item);
          const found = elementFor(set, item) ?? refuse('ENOENT');
          set.elements.delete(elementKey(found));
        });
      }
    });
  }
  transaction.tell(describe(table, set, elements ?? [], transaction.generation, NFT_MSG.DELSETELEM));
};

/** All elements of a set, in several messages when they are many. */
export function listElements(ruleset: Ruleset, { body }: ChangeRequest): Reply[] {
  const { table, set } = setIn(ruleset, read(body));
  const items = [...set.elements.values()].map((element) => listed(set, element));
  const replies: Reply[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    replies.push(describe(table, set, items.slice(at, at + AT_ONCE), ruleset.generation));
  }
  return replies;
}

/** The elements with the keys of a request. */
export function getElements(ruleset: Ruleset, { body }: ChangeRequest): Reply[] {
  const message = read(body);
  const { table, set } = setIn(ruleset, message);
  return (message.attributes.elements ?? []).map((item) => {
    const found = elementFor(set, item) ?? refuse('ENOENT');
    return describe(table, set, [listed(set, found)], ruleset.generation);
  });
}

/** The set that elements are to go to. The kernel points at the name of what is not there. */
function placeOf(transaction: Transaction, { family, attributes }: Message) {
  const { table: inTable, set: name, setId } = attributes;
  const table = pointingAt({ family }, () => transaction.table(family, inTable));
  const set = pointingAt({ family, attributes: { table: inTable } }, () =>
    transaction.set(table, name, setId),
  );
  return { table, set };
}

/** Points behind what a message begins with. */
function pointingAt<R>(beginning: Input<typeof elementsMessage>, act: () => R): R {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw error.at(HEADER_SIZE + encode(elementsMessage, beginning).length);
  }
}

/** So that a list fits into an attribute, which holds 65535 bytes. */
const AT_ONCE = 100;

function addOne(set: SetRecord, element: ElementRecord, flags: number): void {
  const key = elementKey(element);
  const present = set.elements.get(key);
  if (present !== undefined) {
    if ((flags & NLM_F.EXCL) !== 0 || meaningOf(present) !== meaningOf(element)) refuse('EEXIST');
    return;
  }
  if (overlaps(set, element)) refuse('EEXIST');
  const room = (set.attributes.description?.size ?? 0) * (isPlainInterval(set) ? 2 : 1);
  if (room > 0 && set.elements.size >= room) refuse('ENFILE');
  set.elements.set(key, element);
}

function meaningOf({ data, object }: ElementRecord): string {
  return JSON.stringify([data?.value?.join(), data?.verdict, object]);
}

/** A constant set that a rule looks into stays as it is. */
function isFixed(table: TableRecord, { attributes: { name, flags } }: SetRecord): boolean {
  return (flags & NFT_SET.CONSTANT) !== 0 && isSetUsed(table, name);
}

/** Where the kernel complains about an item, it says at which offset of the message that is. */
function pointing(message: Message, act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof Refusal) || error.item === undefined) throw error;
    const { attributes } = message;
    const before = {
      ...message,
      attributes: { ...attributes, elements: attributes.elements?.slice(0, error.item) },
    };
    throw error.at(HEADER_SIZE + encode(elementsMessage, before).length);
  }
}

/** An element as it is listed. */
function listed(set: SetRecord, { timeout, ...rest }: ElementRecord): WireElement {
  return timeout === undefined || timeout === set.attributes.timeout ? rest : { ...rest, timeout };
}

function setIn(ruleset: Ruleset, { family, attributes }: Message) {
  const table = ruleset.tables.get(`${family} ${attributes.table}`);
  const set = attributes.set === undefined ? undefined : table?.sets.get(attributes.set);
  if (table === undefined || set === undefined) refuse('ENOENT');
  return { table, set };
}

function describe(
  table: TableRecord,
  { attributes: { name } }: SetRecord,
  elements: readonly WireElement[],
  generation: number,
  message: number = NFT_MSG.NEWSETELEM,
): Reply {
  const body = encode(elementsMessage, {
    family: table.family,
    resource: resourceOf(generation),
    attributes: { table: table.name, set: name, elements },
  });
  return { type: nftType(message), flags: 0, body };
}

function read(body: Uint8Array) {
  const message = decode(elementsMessage, body);
  refuseUnknown('NFTA_SET_ELEM_LIST', message);
  return message;
}

/** Changes as the messages of a batch. */
import { encode } from '@heddle/wire';
import { NLM_F } from '../core/header.ts';
import type { Message } from '../core/message.ts';
import type { NftChange } from './changes.ts';
import { chainMessage } from './codec/chain.ts';
import { elementsMessage } from './codec/element.ts';
import type { Expression } from './codec/expressions.ts';
import { NFT_MSG, nftType } from './codec/nfgenmsg.ts';
import { objectMessage } from './codec/object.ts';
import { ruleMessage } from './codec/rule.ts';
import { NFT_OBJECT_COUNTER, setMessage } from './codec/set.ts';
import { tableMessage } from './codec/table.ts';
import { compileRule } from './compile.ts';
import { describeChange, describeElements, describeObject } from './describe.ts';
import type { NftElement, NftObject, NftRule, NftSet } from './model.ts';
import { NftError } from './nft-error.ts';
import type { SetTypes } from './set-types.ts';
import {
  type ElementTarget,
  elementAt,
  encodeElement,
  encodeElements,
  fitting,
  type WireItems,
} from './write-elements.ts';
import {
  anonymousTypes,
  encodeAnonymousSet,
  encodeChain,
  encodeCounter,
  encodeRule,
  encodeSet,
  encodeTable,
} from './write-objects.ts';

/** A message and the changes that it carries out. */
export interface PlannedMessage extends Message {
  readonly changes: readonly NftChange[];
  /** The change at an offset that the kernel complains about, where the message carries several. */
  changeAt?(offset: number): NftChange | undefined;
}

/** The types of a set that elements are to be put into. */
export type TypesFor = (element: NftElement, op: NftChange['op']) => SetTypes;

/**
 * The messages of `changes`, in their order. Neighbouring changes to elements of one set share messages.
 *
 * @throws {NftError} when a change cannot be written down
 */
export function planChanges(changes: readonly NftChange[], typesFor: TypesFor): readonly PlannedMessage[] {
  const messages: PlannedMessage[] = [];
  let setIds = 0;
  const nextSetId = () => ++setIds;
  for (let index = 0; index < changes.length; ) {
    const run = elementRun(changes, index);
    if (run.length > 0) messages.push(...planElements(run, typesFor));
    else messages.push(...planOne(changes[index] as NftChange, nextSetId));
    index += Math.max(run.length, 1);
  }
  return messages;
}

type ElementChange = NftChange & { readonly object: NftElement };

/** The changes from `start` on that are of one kind and about elements of one set. */
function elementRun(changes: readonly NftChange[], start: number): readonly ElementChange[] {
  const run: ElementChange[] = [];
  for (let index = start; index < changes.length; index++) {
    const change = changes[index] as NftChange;
    if (change.object.kind !== 'element') break;
    const next = change as ElementChange;
    const [first] = run;
    if (first !== undefined && (first.op !== next.op || setKey(first.object) !== setKey(next.object))) break;
    run.push(next);
  }
  return run;
}

function planElements(run: readonly ElementChange[], typesFor: TypesFor): readonly PlannedMessage[] {
  const { op, object } = run[0] as ElementChange;
  const types = typesFor(object, op);
  const purpose = op === 'add' || op === 'create' ? 'add' : 'delete';
  if (purpose === 'delete' && op !== 'delete' && op !== 'destroy') throw unsupported(run[0] as NftChange);
  const encoded = run.map((change) => encodeElement(types, change.object, purpose));
  const target = { family: object.family, table: object.table, set: setName(object) };
  const messages: PlannedMessage[] = [];
  for (let at = 0; at < run.length; ) {
    const count = fitting(encoded, at);
    messages.push(elementsOf(target, run.slice(at, at + count), encoded.slice(at, at + count)));
    at += count;
  }
  return messages;
}

function elementsOf(
  target: ElementTarget,
  changes: readonly ElementChange[],
  encoded: readonly WireItems[],
): PlannedMessage {
  const { op } = changes[0] as ElementChange;
  const adds = op === 'add' || op === 'create';
  return {
    type: nftType(adds ? NFT_MSG.NEWSETELEM : NFT_MSG.DELSETELEM),
    flags: adds ? creation(op) : 0,
    body: encodeElements(target, encoded.flat()),
    operation: describeElements(
      op,
      changes.map((change) => change.object),
    ),
    changes,
    changeAt: (offset) => changes[elementAt(target, encoded, offset) ?? -1],
  };
}

function planOne(change: NftChange, nextSetId: () => number): readonly PlannedMessage[] {
  const { op, object } = change;
  if (op === 'flush') return [planned(change, ...flushBody(change))];
  if (op === 'delete' || op === 'destroy') return [planned(change, ...deleteBody(object))];
  if (object.kind === 'rule') return planRule(change, object, nextSetId);
  if (op !== 'add' && op !== 'create') throw unsupported(change);
  switch (object.kind) {
    case 'table':
      // A table is made by naming it: nft asks for CREATE with everything but tables.
      return [planned(change, NFT_MSG.NEWTABLE, encodeTable(object), op === 'create' ? creation(op) : 0)];
    case 'chain':
      return [planned(change, NFT_MSG.NEWCHAIN, encodeChain(object), creation(op))];
    case 'set':
      return [planned(change, NFT_MSG.NEWSET, encodeSet(object, nextSetId()), creation(op))];
    case 'counter':
      return [planned(change, NFT_MSG.NEWOBJ, encodeCounter(object), creation(op))];
    case 'element':
      throw unsupported(change);
  }
}

/** A rule comes behind its sets without name. */
function planRule(change: NftChange, rule: NftRule, nextSetId: () => number): readonly PlannedMessage[] {
  const { expressions, sets } = compileRule(rule.expressions, rule.family);
  const messages: PlannedMessage[] = [];
  const ids = new Map<number, number>();
  for (const set of sets) {
    const id = nextSetId();
    ids.set(set.index, id);
    const types = anonymousTypes(set);
    const items = set.elements.flatMap((each) => encodeElement(types, each, 'add'));
    const name = set.verdicts ? '__map%d' : '__set%d';
    messages.push(
      planned(change, NFT_MSG.NEWSET, encodeAnonymousSet(rule, set, id, items.length), NLM_F.CREATE),
      planned(
        change,
        NFT_MSG.NEWSETELEM,
        encodeElements({ family: rule.family, table: rule.table, set: name, setId: id }, items),
        NLM_F.CREATE,
      ),
    );
  }
  const body = encodeRule(ruleFor(change, rule), expressions.map(numbered(ids)));
  messages.push(planned(change, NFT_MSG.NEWRULE, body, ruleFlags(change.op)));
  return messages;
}

/** What a rule's message says of handles: a listed rule that is added again gets a new one. */
function ruleFor({ op }: NftChange, rule: NftRule): NftRule {
  const { handle, ...rest } = rule;
  if (op !== 'replace') return rest;
  if (handle === undefined) throw new NftError(`replace ${describeObject(rule)}: no handle`);
  return rule;
}

function ruleFlags(op: NftChange['op']): number {
  if (op === 'replace') return NLM_F.REPLACE;
  if (op === 'insert') return NLM_F.CREATE;
  return creation(op) | NLM_F.APPEND;
}

/** Gives look-ups in sets without name the sets' numbers in the batch. */
function numbered(ids: ReadonlyMap<number, number>): (expression: Expression) => Expression {
  return (expression) => {
    if (expression.expr !== 'lookup' || expression.setId === undefined) return expression;
    return { ...expression, setId: ids.get(expression.setId) ?? expression.setId };
  };
}

type Body = readonly [message: number, body: Uint8Array];

function deleteBody(object: NftObject): Body {
  const { family } = object;
  switch (object.kind) {
    case 'table':
      return [NFT_MSG.DELTABLE, encode(tableMessage, { family, attributes: { name: object.name } })];
    case 'chain': {
      const { table, name } = object;
      return [NFT_MSG.DELCHAIN, encode(chainMessage, { family, attributes: { table, name } })];
    }
    case 'rule': {
      const { table, chain, handle } = object;
      // Without handle, the kernel would delete all rules of the chain.
      if (handle === undefined) throw new NftError(`delete ${describeObject(object)}: no handle`);
      return [NFT_MSG.DELRULE, encode(ruleMessage, { family, attributes: { table, chain, handle } })];
    }
    case 'set': {
      const { table, name } = object;
      return [NFT_MSG.DELSET, encode(setMessage, { family, attributes: { table, name } })];
    }
    case 'counter': {
      const { table, name } = object;
      const attributes = { table, name, type: NFT_OBJECT_COUNTER };
      return [NFT_MSG.DELOBJ, encode(objectMessage, { family, attributes })];
    }
    case 'element':
      throw unsupported({ op: 'delete', object });
  }
}

function flushBody(change: NftChange): Body {
  const { object } = change;
  const { family } = object;
  switch (object.kind) {
    case 'table':
      return [NFT_MSG.DELRULE, encode(ruleMessage, { family, attributes: { table: object.name } })];
    case 'chain': {
      const attributes = { table: object.table, chain: object.name };
      return [NFT_MSG.DELRULE, encode(ruleMessage, { family, attributes })];
    }
    case 'set': {
      const attributes = { table: object.table, set: object.name };
      return [NFT_MSG.DELSETELEM, encode(elementsMessage, { family, attributes })];
    }
    default:
      throw unsupported(change);
  }
}

function planned(change: NftChange, message: number, body: Uint8Array, flags = 0): PlannedMessage {
  return { type: nftType(message), flags, body, operation: describeChange(change), changes: [change] };
}

function creation(op: NftChange['op']): number {
  return op === 'create' ? NLM_F.CREATE | NLM_F.EXCL : NLM_F.CREATE;
}

/** What tells an element's set from all others. */
export function setKey(element: Pick<NftElement, 'family' | 'table' | 'set'>): string {
  return [element.family, element.table, setName(element)].join(' ');
}

/** The name of an element's set. */
export function setName({ set }: Pick<NftElement, 'set'>): string {
  return typeof set === 'string' ? set : (set satisfies NftSet).name;
}

function unsupported(change: NftChange): NftError {
  return new NftError(`${describeChange(change)}: there is no such change`);
}

/** NFT_MSG_*: what changes the ruleset, and what lists it. */
import { encode } from '@heddle/wire';
import type { Reply } from '../../core/message.ts';
import { generationMessage, NFT_MSG, nftType } from '../../nft/codec/nfgenmsg.ts';
import { deleteChain, getChain, listChains, newChain } from './chains.ts';
import type { Change, ChangeRequest } from './change.ts';
import { resourceOf } from './change.ts';
import { deleteElements, getElements, listElements, newElements } from './elements.ts';
import { deleteObject, listObjects, newObject } from './objects.ts';
import type { Ruleset } from './records.ts';
import { deleteRule, listRules, newRule } from './rules.ts';
import { deleteSet, getSet, listSets, newSet } from './sets.ts';
import { deleteTable, listTables, newTable } from './tables.ts';

/** What the messages of a batch do. */
export const CHANGES: ReadonlyMap<number, Change> = new Map([
  [NFT_MSG.NEWTABLE, newTable],
  [NFT_MSG.DELTABLE, deleteTable],
  [NFT_MSG.NEWCHAIN, newChain],
  [NFT_MSG.DELCHAIN, deleteChain],
  [NFT_MSG.NEWRULE, newRule],
  [NFT_MSG.DELRULE, deleteRule],
  [NFT_MSG.NEWSET, newSet],
  [NFT_MSG.DELSET, deleteSet],
  [NFT_MSG.NEWSETELEM, newElements],
  [NFT_MSG.DELSETELEM, deleteElements],
  [NFT_MSG.NEWOBJ, newObject],
  [NFT_MSG.DELOBJ, deleteObject],
]);

/** Answers a question about the ruleset. */
export type Query = (ruleset: Ruleset, request: ChangeRequest) => Reply[];

/** How a question is answered when it is for one thing; see {@link LISTINGS} for the others. */
export const QUERIES: ReadonlyMap<number, Query> = new Map([
  [NFT_MSG.GETCHAIN, getChain],
  [NFT_MSG.GETSET, getSet],
  [NFT_MSG.GETSETELEM, getElements],
  [NFT_MSG.GETGEN, (ruleset) => [describeGeneration(ruleset)]],
]);

/** How lists are made. */
export const LISTINGS: ReadonlyMap<number, Query> = new Map([
  [NFT_MSG.GETTABLE, listTables],
  [NFT_MSG.GETCHAIN, listChains],
  [NFT_MSG.GETRULE, listRules],
  [NFT_MSG.GETSET, listSets],
  [NFT_MSG.GETSETELEM, listElements],
  [NFT_MSG.GETOBJ, listObjects],
]);

/** The message that tells of a generation. */
export function describeGeneration({ generation }: Ruleset): Reply {
  const body = encode(generationMessage, {
    family: 'unspec',
    resource: resourceOf(generation),
    attributes: { id: generation },
  });
  return { type: nftType(NFT_MSG.NEWGEN), flags: 0, body };
}

/** The ruleset of a network namespace: listing and atomic changes — nft(8), linux/netfilter/nf_tables.h */
import { decode, encode } from '@heddle/wire';
import type { NetlinkClient } from '../core/client.ts';
import type { Message, Reply } from '../core/message.ts';
import { NetlinkError } from '../core/netlink-error.ts';
import { blamed, enclosed } from './batch.ts';
import type { NftChange } from './changes.ts';
import { chainMessage } from './codec/chain.ts';
import { elementsMessage } from './codec/element.ts';
import { generationMessage, NFT_MSG, nfgenmsg, nftType } from './codec/nfgenmsg.ts';
import { objectMessage } from './codec/object.ts';
import { ruleMessage } from './codec/rule.ts';
import { NFT_OBJECT_COUNTER, setMessage } from './codec/set.ts';
import { tableMessage } from './codec/table.ts';
import { describeChange } from './describe.ts';
import { formatKey } from './key-values.ts';
import { ALL_TABLES, chainKey, type NftMemory, rulesKey } from './memory.ts';
import type {
  ListedElement,
  ListedRule,
  NftChain,
  NftCounter,
  NftElement,
  NftFamily,
  NftSet,
  NftTable,
} from './model.ts';
import { type PlannedMessage, planChanges, setKey, setName } from './plan.ts';
import { decodeItems, elementsOf } from './read-elements.ts';
import { decodeChain, decodeCounter, decodeRule, decodeSet, decodeTable } from './read-objects.ts';
import { identityOf, typesOfSet } from './set-types.ts';
import { asking, toldIn } from './told.ts';
import { encodeElement } from './write-elements.ts';

/** A table, as listings are asked for it. */
export interface InTable {
  readonly family: NftFamily;
  readonly table: string;
}

/** The set that elements are listed from. */
export interface InSet extends InTable {
  readonly set: string;
}

/** How {@link Nft.commit} goes about its changes. */
export interface CommitOptions {
  /** Changes nothing, with ERESTART, when the ruleset has another generation by now. */
  readonly generation?: number;
}

/**
 * nf_tables in one network namespace.
 *
 * @example
 * await nft.commit([add(table({ family: 'inet', name: 'demo' })), add(chain({ family: 'inet', table: 'demo', name: 'c' }))]);
 * const rules = await nft.rules({ family: 'inet', table: 'demo' });
 */
export class Nft {
  readonly #client: NetlinkClient;
  readonly #memory: NftMemory | undefined;

  /**
   * @param client a client of NETLINK_NETFILTER
   * @param memory what has been read of the namespace's ruleset: lists come from there where they can
   */
  constructor(client: NetlinkClient, memory?: NftMemory) {
    this.#client = client;
    this.#memory = memory;
  }

  /**
   * Waits for the turn to plan changes from what is there and to make them, among the sessions that share a memory;
   * the next one's comes when the result is disposed of. What all of them change in turn, none has to read again.
   */
  async turn(): Promise<Disposable> {
    return (await this.#memory?.turn()) ?? NO_TURN;
  }

  /** The number of the ruleset's current generation: it changes with every transaction of anyone. */
  async generation(): Promise<number> {
    const id = await this.#currentGeneration();
    this.#memory?.verify(id);
    return id;
  }

  async #currentGeneration(): Promise<number> {
    const body = encode(generationMessage, { family: 'unspec' });
    const operation = 'read the ruleset generation';
    const [reply] = await this.#client.request({ type: nftType(NFT_MSG.GETGEN), body, operation });
    return reply === undefined ? 0 : (decode(generationMessage, reply.body).attributes.id ?? 0);
  }

  /** The memory, good for what is read of it before anything else is waited for. */
  async #verifiedMemory(): Promise<NftMemory | undefined> {
    if (this.#memory?.isVerified === false) await this.generation();
    return this.#memory;
  }

  /** Whether the generation that the memory was of before something was read is still the current one. */
  async #isStill(before: number | undefined): Promise<boolean> {
    return before !== undefined && (await this.generation()) === before;
  }

  async #remembered<T>(
    table: string,
    what: string,
    read: () => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    const memory = await this.#verifiedMemory();
    const known = memory?.list(table, what);
    if (known !== undefined) return known as readonly T[];
    const before = memory?.generation;
    const found = await read();
    if (await this.#isStill(before)) memory?.keepList(table, what, found);
    return found;
  }

  /** All tables, or those of a family. */
  async tables(family?: NftFamily): Promise<readonly NftTable[]> {
    const body = encode(tableMessage, { family: family ?? 'unspec' });
    return await this.#remembered(ALL_TABLES, `${family}`, async () => {
      const replies = await this.#list(NFT_MSG.GETTABLE, body, 'list tables');
      return replies.map((reply) => decodeTable(reply.body));
    });
  }

  /** The chains of a table; none when there is no such table. */
  async chains({ family, table }: InTable): Promise<readonly NftChain[]> {
    const body = encode(chainMessage, { family });
    const replies = await this.#list(NFT_MSG.GETCHAIN, body, `list chains of ${family} ${table}`);
    return replies.map((reply) => decodeChain(reply.body)).filter((chain) => chain.table === table);
  }

  /** One chain, `undefined` when there is none. Cheap, however many there are. */
  async findChain({
    family,
    table,
    name,
  }: InTable & { readonly name: string }): Promise<NftChain | undefined> {
    const body = encode(chainMessage, { family, attributes: { table, name } });
    const operation = `get chain ${family} ${table} ${name}`;
    const [found] = await this.#remembered(`${family} ${table}`, chainKey(name), async () => {
      const replies = await this.#find({ type: nftType(NFT_MSG.GETCHAIN), body, operation });
      return replies.map((reply) => decodeChain(reply.body));
    });
    return found;
  }

  /** The rules of a table or one of its chains, in order; none when there is no such chain. */
  async rules(where: InTable & { readonly chain?: string }): Promise<readonly ListedRule[]> {
    const { family, table, chain } = where;
    const body = encode(ruleMessage, { family, attributes: { table, chain } });
    const operation = `list rules of ${family} ${table}${chain === undefined ? '' : ` ${chain}`}`;
    return await this.#remembered(`${family} ${table}`, rulesKey(chain), async () => {
      const replies = await this.#list(NFT_MSG.GETRULE, body, operation);
      return replies.map((reply) => decodeRule(reply.body));
    });
  }

  /** The sets and maps of a table; none when there is no such table. */
  async sets({ family, table }: InTable): Promise<readonly NftSet[]> {
    const body = encode(setMessage, { family, attributes: { table } });
    const replies = await this.#list(NFT_MSG.GETSET, body, `list sets of ${family} ${table}`);
    return replies.flatMap((reply) => decodeSet(reply.body) ?? []);
  }

  /** One set or map, `undefined` when there is none. */
  async findSet({ family, table, set }: InSet): Promise<NftSet | undefined> {
    const [reply] = await this.#findSet({ family, table, set });
    return reply === undefined ? undefined : decodeSet(reply.body);
  }

  /** The elements of a set or map; none when there is no such set. */
  async elements(where: InSet): Promise<readonly ListedElement[]> {
    const { family, table, set } = where;
    const body = encode(elementsMessage, { family, attributes: { table, set } });
    for (let attempt = 1; ; attempt++) {
      const found = await this.#findSet(where);
      const declared = found[0] === undefined ? undefined : decodeSet(found[0].body);
      if (declared === undefined) return [];
      const replies = await this.#list(
        NFT_MSG.GETSETELEM,
        body,
        `list elements of ${family} ${table} ${set}`,
      );
      // Both answers must be of one generation, for the set may be another one by now.
      if (attempt === LIST_ATTEMPTS || sameGeneration([...found, ...replies])) {
        return elementsOf(declared, decodeItems(replies.map((reply) => reply.body)));
      }
    }
  }

  /** The elements of a set whose declaration is known; none when there is no such set. Saves asking for that. */
  async elementsOf(set: NftSet): Promise<readonly ListedElement[]> {
    const { family, table, name } = set;
    const memory = await this.#verifiedMemory();
    const known = memory?.elements(set);
    if (known !== undefined) return known;
    const before = memory?.generation;
    const body = encode(elementsMessage, { family, attributes: { table, set: name } });
    const operation = `list elements of ${family} ${table} ${name}`;
    const replies = await this.#list(NFT_MSG.GETSETELEM, body, operation);
    const found = elementsOf(set, decodeItems(replies.map((reply) => reply.body)));
    if (await this.#isStill(before)) memory?.keepElements(set, found);
    return found;
  }

  /**
   * The element with this key, `undefined` when there is none. Cheap, however large the set, but for sets
   * with intervals.
   */
  async findElement(
    where: Pick<NftElement, 'family' | 'table' | 'set' | 'key'>,
  ): Promise<ListedElement | undefined> {
    const { family, table, key } = where;
    const set = setName(where);
    const declared = typeof where.set === 'string' ? await this.findSet({ family, table, set }) : where.set;
    if (declared === undefined) return undefined;
    const types = typesOfSet(declared);
    if (types.intervals) {
      const wanted = identityOf(types, key);
      const listed = await this.elements({ family, table, set });
      return listed.find((each) => identityOf(types, each.key) === wanted);
    }
    const items = encodeElement(types, { key }, 'delete');
    const body = encode(elementsMessage, { family, attributes: { table, set, elements: items } });
    const operation = `get element ${formatKey(key)} of ${family} ${table} ${set}`;
    const replies = await this.#find({ type: nftType(NFT_MSG.GETSETELEM), body, operation });
    return elementsOf(declared, decodeItems(replies.map((reply) => reply.body)))[0];
  }

  /** The named counters of a table; none when there is no such table. */
  async counters({ family, table }: InTable): Promise<readonly NftCounter[]> {
    const body = encode(objectMessage, { family, attributes: { table, type: NFT_OBJECT_COUNTER } });
    const replies = await this.#list(NFT_MSG.GETOBJ, body, `list counters of ${family} ${table}`);
    return replies.flatMap((reply) => decodeCounter(reply.body) ?? []);
  }

  /**
   * Carries out all changes in one transaction, or none of them.
   *
   * @throws {NetlinkError} naming the change that was refused
   * @throws {NftError} when a change cannot be written down
   */
  async commit(changes: readonly NftChange[], options: CommitOptions = {}): Promise<void> {
    let wanted = changes;
    while (wanted.length > 0) {
      const messages = await this.#plan(wanted);
      try {
        await this.#transaction(wanted, messages, options.generation);
        return;
      } catch (error) {
        // A batch for another generation was not looked at.
        if (NetlinkError.is(error, 'ERESTART')) this.#memory?.doubt();
        else this.#memory?.forget();
        if (!(error instanceof NetlinkError)) throw error;
        const refused = messages.find((message) => message.operation === error.operation);
        const absent = error.errno === 'ENOENT' ? await this.#absent(wanted, refused) : [];
        if (absent.length === 0) throw blamed(error, refused);
        wanted = wanted.filter((change) => !absent.includes(change));
      }
    }
  }

  /** Has the kernel carry out messages, and keeps in mind what that has changed. */
  async #transaction(
    changes: readonly NftChange[],
    messages: readonly PlannedMessage[],
    generation: number | undefined,
  ): Promise<void> {
    const memory = this.#memory;
    if (memory === undefined) {
      await this.#client.transaction(enclosed(messages, generation));
      return;
    }
    const told = toldIn(await this.#client.transaction(enclosed(asking(messages), generation)));
    memory.committed(changes, told.generation ?? (await this.#currentGeneration()), told.rules);
  }

  /** The messages of the changes, without those to elements of sets that are not there to begin with. */
  async #plan(changes: readonly NftChange[]): Promise<readonly PlannedMessage[]> {
    const sets = await this.#setsOf(changes);
    const possible = changes.filter(
      ({ op, object }) => op !== 'destroy' || object.kind !== 'element' || sets.has(setKey(object)),
    );
    return planChanges(possible, (element, op) => {
      const set = sets.get(setKey(element));
      if (set === undefined) throw new NetlinkError(describeChange({ op, object: element }), ENOENT);
      return typesOfSet(set);
    });
  }

  /** The sets that the changed elements belong to: from the elements, the changes before, else the kernel. */
  async #setsOf(changes: readonly NftChange[]): Promise<ReadonlyMap<string, NftSet>> {
    const sets = new Map<string, NftSet | undefined>();
    for (const { op, object } of changes) {
      if (object.kind === 'set' && op !== 'delete' && op !== 'destroy')
        sets.set(setKey({ ...object, set: object }), object);
      if (object.kind !== 'element') continue;
      const key = setKey(object);
      if (typeof object.set !== 'string') sets.set(key, object.set);
      else if (!sets.has(key)) sets.set(key, await this.findSet({ ...object, set: object.set }));
    }
    return new Map([...sets].flatMap(([key, found]) => (found === undefined ? [] : [[key, found] as const])));
  }

  /** The changes that destroy what is not there, given that the kernel refused the first of them. */
  async #absent(
    changes: readonly NftChange[],
    refused: PlannedMessage | undefined,
  ): Promise<readonly NftChange[]> {
    const [first] = refused?.changes ?? [];
    if (first?.op !== 'destroy') return [];
    const { object } = first;
    if (object.kind !== 'element') return [first];
    const set =
      typeof object.set === 'string' ? await this.findSet({ ...object, set: object.set }) : object.set;
    const listed = set === undefined ? [] : await this.elements({ ...object, set: set.name });
    const identity = (element: NftElement) =>
      set === undefined ? '' : identityOf(typesOfSet(set), element.key);
    const present = new Set(listed.map(identity));
    return changes.filter(
      (change) =>
        change.op === 'destroy' &&
        change.object.kind === 'element' &&
        setKey(change.object) === setKey(object) &&
        !present.has(identity(change.object)),
    );
  }

  #findSet({ family, table, set }: InSet): Promise<readonly Reply[]> {
    const body = encode(setMessage, { family, attributes: { table, name: set } });
    return this.#find({
      type: nftType(NFT_MSG.GETSET),
      body,
      operation: `get set ${family} ${table} ${set}`,
    });
  }

  async #find(message: Message): Promise<readonly Reply[]> {
    try {
      return await this.#client.request(message);
    } catch (error) {
      if (NetlinkError.is(error, 'ENOENT')) return [];
      throw error;
    }
  }

  async #list(message: number, body: Uint8Array, operation: string): Promise<readonly Reply[]> {
    try {
      return await this.#client.dump({ type: nftType(message), body, operation });
    } catch (error) {
      if (NetlinkError.is(error, 'ENOENT')) return [];
      throw error;
    }
  }
}

const ENOENT = 2;

const NO_TURN: Disposable = { [Symbol.dispose]: () => {} };

/** How often a listing is repeated that another transaction came across. */
const LIST_ATTEMPTS = 5;

/** Every answer carries the low half of its generation's number. */
function sameGeneration(replies: readonly Reply[]): boolean {
  return new Set(replies.map((reply) => decode(nfgenmsg, reply.body).resource)).size <= 1;
}

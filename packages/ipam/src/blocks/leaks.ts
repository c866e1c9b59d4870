/** Addresses that stand in the store for attachments that are not there: proven, before anything is given back. */
import type { Addr } from '@heddle/netaddr';
import { releaseHandle } from './give-back.ts';
import { ageOf, type Member, readAll, type Stored } from './member.ts';
import { type HandleRecord, handleCodec, KEYS } from './records.ts';

interface Suspect {
  readonly record: Stored<HandleRecord>;
  /** When it was first seen unused. */
  readonly since: number;
}

/** Unless said otherwise, so long lies between the two observations; milliseconds. */
const GRACE = 15 * 60_000;

/**
 * Watches the handles of one node. A handle is leaked when two observations, some time apart, find it written by one
 * and the same commit and its attachment not there: one observation may be older than the attachment.
 *
 * @example
 * const leaks = new LeakWatch(member);
 * await leaks.observe(await attachmentsHere()); // nothing is proven yet
 * …                                             // a quarter of an hour later
 * await leaks.observe(await attachmentsHere()); // the leaked ones
 */
export class LeakWatch {
  readonly #member: Member;
  readonly #grace: number;
  #suspects: ReadonlyMap<string, Suspect> = new Map();

  constructor(member: Member, grace = GRACE) {
    this.#member = member;
    this.#grace = grace;
  }

  /**
   * Compares with what is there.
   *
   * @param inUse the handles of all attachments of the node, asked for before this call
   * @returns the handles that are leaked for certain
   */
  async observe(inUse: ReadonlySet<string>): Promise<readonly HandleRecord[]> {
    return (await this.#observe(inUse)).map(({ record }) => record.value);
  }

  /**
   * Compares with what is there, and gives back what is leaked for certain.
   *
   * @returns the addresses that were given back
   */
  async release(inUse: ReadonlySet<string>): Promise<readonly Addr[]> {
    const released: Addr[] = [];
    for (const { record } of await this.#observe(inUse)) {
      const { value, revision } = record;
      released.push(...(await releaseHandle(this.#member, value.handle, { writtenAt: revision })));
    }
    return released;
  }

  async #observe(inUse: ReadonlySet<string>): Promise<readonly Suspect[]> {
    const { store, node, now } = this.#member;
    const moment = now();
    const ageOfSuspect = ({ since }: Suspect) => ageOf(this.#member, since);
    const suspects = new Map<string, Suspect>();
    for (const record of await readAll<HandleRecord>(store, handleCodec, KEYS.handlesOf(node))) {
      const { handle } = record.value;
      if (inUse.has(handle)) continue;
      const before = this.#suspects.get(handle);
      const isSame =
        before !== undefined && before.record.revision === record.revision && ageOfSuspect(before) >= 0;
      suspects.set(handle, isSame ? before : { record, since: moment });
    }
    const known = this.#suspects;
    this.#suspects = suspects;
    return [...suspects].flatMap(([handle, suspect]) =>
      known.get(handle) === suspect && ageOfSuspect(suspect) >= this.#grace ? [suspect] : [],
    );
  }
}

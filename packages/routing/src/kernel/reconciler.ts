/** Makes the kernel what is desired: by what changed, or by comparing all of it. */

import { ErrorList } from '@heddle/errors';
import { type Change, type KernelSession, NetlinkError } from '@heddle/netlink';
import type { Delta } from '../calculate/calculator.ts';
import type { DesiredLink, DesiredObject } from '../calculate/desired.ts';
import type { Clock } from '../clock.ts';
import { syncDevices } from './devices.ts';
import { Failures } from './failures.ts';
import { listKind, TABLE_KINDS, type TableKind } from './listing.ts';
import { RULE_KINDS, type RuleKind, syncRules } from './rules.ts';
import { syncSysctls } from './sysctls.ts';
import { type Devices, dropChange, putChange, type TableObject } from './tables.ts';

/** What can be compared by itself. */
export type Kind = DesiredObject['kind'];

/** All of it, in the order in which it is made. */
export const KINDS: readonly Kind[] = ['link', 'sysctl', ...RULE_KINDS, ...TABLE_KINDS];

/** A change to a table, and what it is about. */
interface Planned {
  readonly key: string;
  readonly change: Change;
  readonly isDrop: boolean;
}

/** See the file's comment. One call at a time. */
export class Reconciler {
  readonly failures: Failures;
  readonly #session: KernelSession;
  readonly #desired = new Map<string, DesiredObject>();
  #devices = NO_DEVICES;

  readonly #fillsInChecksums: boolean;

  /** @param fillsInChecksums whether VXLAN devices must leave no checksums to an offload */
  constructor(session: KernelSession, clock: Clock, fillsInChecksums: boolean) {
    this.#session = session;
    this.#fillsInChecksums = fillsInChecksums;
    this.failures = new Failures(clock);
  }

  get desired(): ReadonlyMap<string, DesiredObject> {
    return this.#desired;
  }

  get devices(): Devices {
    return this.#devices;
  }

  /** Takes over what is desired now, without doing anything. */
  note({ put, drop }: Delta): void {
    for (const { key } of drop) this.#desired.delete(key);
    for (const object of put) this.#desired.set(object.key, object);
  }

  /** Makes what changed. @returns how many changes it took */
  async apply(delta: Delta, isHolding = false): Promise<number> {
    this.note(delta);
    const { put, drop } = delta;
    const touched = new Set<Kind>();
    for (const list of [put, drop]) for (const { kind } of list) touched.add(kind);
    if (touched.has('link')) return this.resync(KINDS, isHolding);
    let changes = touched.has('sysctl') ? await this.#syncSysctls() : 0;
    for (const kind of RULE_KINDS) if (touched.has(kind)) changes += await this.#syncRules(kind);
    const planned: Planned[] = [];
    // What takes the place of something is there before it goes: packets on their way lose nothing.
    for (const kind of TABLE_KINDS) {
      for (const object of put) if (object.kind === kind) this.#plan(planned, object, false);
    }
    for (const kind of [...TABLE_KINDS].reverse()) {
      for (const object of drop) if (object.kind === kind) this.#plan(planned, object, true);
    }
    return changes + (await this.#send(planned));
  }

  /**
   * Compares these kinds with what the kernel has, and makes what differs.
   *
   * @param isHolding whether what is not wanted stays for now
   * @returns how many changes it took
   */
  async resync(kinds: readonly Kind[], isHolding = false): Promise<number> {
    let changes = 0;
    let wanted = new Set(kinds);
    if (wanted.has('link') || this.#devices === NO_DEVICES) {
      const sent = await this.#syncDevices();
      changes += sent;
      // What was on a device went with it, and what went by it.
      if (sent > 0) wanted = new Set(KINDS);
    }
    if (wanted.has('sysctl')) changes += await this.#syncSysctls();
    for (const kind of RULE_KINDS) if (wanted.has(kind)) changes += await this.#syncRules(kind);
    const drops: Planned[] = [];
    const puts: Planned[] = [];
    for (const kind of TABLE_KINDS) {
      if (wanted.has(kind)) await this.#compare(kind, drops, puts, isHolding);
    }
    changes += await this.#send([...puts, ...drops.reverse()]);
    this.failures.keepOnly(
      (subject) => this.#desired.has(subject) || drops.some(({ key }) => key === subject),
    );
    return changes;
  }

  async #syncDevices(): Promise<number> {
    const wanted = new Map<string, DesiredLink>();
    for (const object of this.#desired.values()) if (object.kind === 'link') wanted.set(object.name, object);
    const { indexes, failures, changes } = await syncDevices(this.#session, wanted, this.#fillsInChecksums);
    const names = new Map([...indexes].map(([name, index]) => [index, name]));
    const isSame = [...indexes].every(([name, index]) => this.#devices.indexes.get(name) === index);
    this.#devices = { indexes, names };
    for (const name of indexes.keys()) this.failures.solve(`link ${name}`);
    for (const [key, reason] of failures) this.failures.add(key, reason);
    return changes > 0 || !isSame ? Math.max(changes, 1) : 0;
  }

  async #syncSysctls(): Promise<number> {
    const wanted = [...this.#desired.values()].filter((object) => object.kind === 'sysctl');
    const { changes, failures } = await syncSysctls(this.#session, wanted);
    for (const { key } of wanted) {
      const reason = failures.get(key);
      if (reason === undefined) this.failures.solve(key);
      else this.failures.add(key, reason);
    }
    return changes;
  }

  async #syncRules(kind: RuleKind): Promise<number> {
    try {
      const changes = await syncRules(this.#session, kind, this.#desired.get(kind));
      this.failures.solve(kind);
      return changes;
    } catch (error) {
      this.failures.add(kind, reasonOf(error));
    }
    return 0;
  }

  async #compare(kind: TableKind, drops: Planned[], puts: Planned[], isHolding: boolean): Promise<void> {
    const { found, shadows } = await listKind(this.#session, this.#devices, kind);
    const seen = new Set<string>();
    for (const { key, text, isOwned, remove } of found) {
      const wanted = this.#desired.get(key);
      if (wanted === undefined) {
        if (isOwned && !isHolding) drops.push({ key, change: remove(), isDrop: true });
      } else if (wanted.text === text) {
        seen.add(key);
      }
    }
    for (const object of this.#desired.values()) {
      if (object.kind !== kind) continue;
      const shadow = shadows.get(object.key);
      if (shadow !== undefined)
        this.failures.add(object.key, `another route to there comes first: ${shadow}`);
      if (!seen.has(object.key)) this.#plan(puts, object, false);
      else if (shadow === undefined) this.failures.solve(object.key);
    }
  }

  #plan(planned: Planned[], object: DesiredObject, isDrop: boolean): void {
    if (!isTableObject(object)) return;
    const change = (isDrop ? dropChange : putChange)(this.#session, this.#devices, object);
    // Without its device it waits: the device's failure is told.
    if (change !== undefined) planned.push({ key: object.key, change, isDrop });
  }

  /** Sends changes together, and finds out which of them were refused. */
  async #send(planned: readonly Planned[]): Promise<number> {
    if (planned.length === 0) return 0;
    const byOperation = new Map<string, Planned>();
    const changes = planned.map(
      (each): Change =>
        async (indexOf) => {
          const message = await each.change(indexOf);
          byOperation.set(message.operation, each);
          return message;
        },
    );
    const refused = new Map<Planned, string>();
    try {
      await this.#session.batch(changes);
    } catch (error) {
      const errors = error instanceof ErrorList ? error.errors : [error];
      for (const one of errors) {
        const about =
          one instanceof NetlinkError ? byOperation.get(one.operation.replace(UNANSWERED, '')) : undefined;
        // Nobody knows what was done of it: all of it counts as not done.
        if (about === undefined) for (const each of planned) refused.set(each, reasonOf(one));
        else if (!(about.isDrop && NetlinkError.is(one, ...GONE))) refused.set(about, reasonOf(one));
      }
    }
    for (const each of planned) {
      const reason = refused.get(each);
      if (reason !== undefined) this.failures.add(each.key, reason);
      else if (this.failures.size > 0) this.failures.solve(each.key);
    }
    return planned.length;
  }
}

/** Before they were looked at. */
const NO_DEVICES: Devices = { indexes: new Map(), names: new Map() };
/** What the kernel says of things that are not there (any more). */
const GONE = ['ESRCH', 'ENOENT', 'EADDRNOTAVAIL', 'ENODEV'];
const UNANSWERED = /, which was not answered$/;

function isTableObject(object: DesiredObject): object is TableObject {
  return TABLE_KINDS.some((kind) => kind === object.kind);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Joining: a lease, an entry bound to it, and what keeps both. */
import { type Member, removeNode } from '@heddle/ipam/blocks';
import { type Entry, type Lease, type Revision, StoreError } from '@heddle/store';
import { type Clock, systemClock } from '../clock.ts';
import { RoutingError } from '../routing-error.ts';
import { findUnderlay, type Underlay } from '../underlay/underlay.ts';
import { WallClock } from '../wall-clock.ts';
import type { JoinOptions, Membership, MembershipState } from './membership.ts';
import { memberCodec, NODE_KEYS, type NodeRecord, nodeCodec } from './records.ts';
import { Sweeper } from './sweeper.ts';
import { readTunnelAddresses, tunnelMac } from './tunnel.ts';

/**
 * Makes the node a member of the cluster and keeps it one, through outages of the store too.
 *
 * @throws {RoutingError} NODE_NAME_TAKEN, NODE_NAME_INVALID, UNDERLAY_MISSING
 * @throws {StoreError} as the store does: nothing has been started then
 * @example
 * await using membership = await joinCluster({ store, session, name: 'n1', instance: machineId, version: '1.0' });
 * await allocateAddresses(membership.member, { handle: 'pods.c1.eth0', families: [4] });
 */
export async function joinCluster(options: JoinOptions): Promise<Membership> {
  const { store, session, name, instance, labels = {}, version, underlay: choice } = options;
  if (!/^[a-z0-9]([-a-z0-9._]{0,251}[a-z0-9])?$/i.test(name)) {
    throw new RoutingError('NODE_NAME_INVALID', `node name ${JSON.stringify(name)} is not valid`, {
      hint: 'letters, digits, dashes, dots and underscores, at most 253',
    });
  }
  const clock = options.clock ?? systemClock;
  const underlay = await findUnderlay(session, choice);
  const record: NodeRecord = {
    ...{ name, instance, labels, version, since: clock.now(), mtu: underlay.mtu },
    underlay: underlay.addresses.map(({ prefix }) => prefix),
    tunnel: { mac: tunnelMac(name), addresses: await readTunnelAddresses(store, name) },
  };
  const membership = new NodeMembership(options, clock, record, underlay);
  await membership.enter();
  await membership.restore();
  membership.start();
  return membership;
}

const LEASE = 30;
const GRACE = 600;
/** How long to wait for a store that does not answer, and for a name that another machine has; milliseconds. */
const RETRY = 1_000;
const RETRY_REFUSED = 10_000;
const ATTEMPTS = 10;

class NodeMembership implements Membership {
  readonly name: string;
  readonly member: Member;
  record: NodeRecord;
  state: MembershipState = { kind: 'joined' };
  readonly underlayOptions: Membership['underlayOptions'];
  underlay: Underlay;
  readonly #options: JoinOptions;
  readonly #clock: Clock;
  readonly #ending = new AbortController();
  #lease: Lease | undefined;
  /** What is in the store, and the commit that wrote it. */
  #written = '';
  #entered: Revision = 0;
  /** The commit by which addresses can be taken: that one, as soon as what was lost has been restored. */
  #revision: Revision = 0;
  /** Whether it is to be restored, and whether the node had been removed. */
  #lost: { readonly removed: boolean } | undefined = { removed: false };
  #isWoken = false;
  #stopWaiting: () => void = () => {};
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: JoinOptions, clock: Clock, record: NodeRecord, underlay: Underlay) {
    const revision = () => this.#revision;
    const { store, name, labels = {} } = options;
    const wall = new WallClock(clock);
    this.#options = options;
    this.#clock = clock;
    this.name = name;
    this.record = record;
    this.underlay = underlay;
    this.underlayOptions = options.underlay ?? {};
    this.member = {
      ...{ store, node: name, labels, now: () => wall.now(), age: (moment) => wall.age(moment) },
      get presence() {
        return { key: NODE_KEYS.node(name), revision: revision() };
      },
    };
  }

  /** Puts the node's entry where it is not, or not as it should be. */
  async enter(): Promise<void> {
    const { store, leaseSeconds = LEASE } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const entry = await store.get(NODE_KEYS.node(this.name));
      const membership = await store.get(NODE_KEYS.member(this.name));
      const before = membership && memberCodec.decode(membership);
      this.#refuseOther(entry && nodeCodec.decode(entry).instance);
      this.#refuseOther(before?.instance);
      const lease = this.#lease ?? (await store.grantLease(leaseSeconds));
      const { name } = this;
      const { instance } = this.#options;
      const value = nodeCodec.encode(this.record);
      const joined = before?.joined ?? this.#clock.now();
      try {
        this.#entered = await store.commit({
          conditions: [at(NODE_KEYS.node(name), entry), at(NODE_KEYS.member(name), membership)],
          changes: [
            { put: NODE_KEYS.node(name), value, lease: lease.id },
            { put: NODE_KEYS.member(name), value: memberCodec.encode({ name, instance, joined }) },
          ],
        });
        this.#lease = lease;
        this.#written = value;
        if (before === undefined) this.#lost = { removed: true };
        if (this.#lost === undefined) this.#revision = this.#entered;
        return;
      } catch (error) {
        if (StoreError.is(error, 'STORE_LEASE_GONE')) this.#lease = undefined;
        else if (!StoreError.is(error, 'STORE_CONFLICT')) throw error;
        if (attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** Nobody but who restores may take anything before it is done. */
  async restore(): Promise<void> {
    const revision = this.#entered;
    const presence = { key: NODE_KEYS.node(this.name), revision };
    const { record, underlay } = this;
    await this.#options.restore?.({ ...this.member, presence }, { record, underlay });
    this.#revision = revision;
    this.#lost = undefined;
  }

  start(): void {
    const { graceSeconds = GRACE, onEvent = () => {} } = this.#options;
    const { signal } = this.#ending;
    const sweeper = new Sweeper({
      ...{ member: this.member, graceSeconds, clock: this.#clock, signal },
      onOwnEntry: () => this.#wake(),
      onGone: (node) => onEvent({ kind: 'gone', node }),
      onRemoved: (node) => onEvent({ kind: 'removed', node }),
      onTrouble: (what, error) => onEvent({ kind: 'troubled', what, reason: reasonOf(error) }),
    });
    this.#work = Promise.all([this.#keepAlive(), this.#sweep(sweeper)]);
  }

  announce({ underlay, tunnel }: Parameters<Membership['announce']>[0]): void {
    if (underlay !== undefined) {
      this.underlay = underlay;
      const addresses = underlay.addresses.map(({ prefix }) => prefix);
      this.record = { ...this.record, underlay: addresses, mtu: underlay.mtu };
    }
    if (tunnel !== undefined) this.record = { ...this.record, tunnel };
    this.#wake();
  }

  async leave(): Promise<void> {
    await this[Symbol.asyncDispose]();
    const { store } = this.#options;
    const key = NODE_KEYS.node(this.name);
    const entry = await store.get(key);
    this.#refuseOther(entry && nodeCodec.decode(entry).instance);
    await store.commit({ conditions: [at(key, entry)], changes: [{ delete: key }] });
    await removeNode(this.member, this.name, { key, revision: 0 });
    await store.commit({
      conditions: [{ key, revision: 0 }],
      changes: [{ delete: NODE_KEYS.member(this.name) }],
    });
    this.state = { kind: 'left' };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(new Error('the membership has ended'));
    await this.#work;
  }

  async #sweep(sweeper: Sweeper): Promise<void> {
    const { signal } = this.#ending;
    const { onEvent = () => {} } = this.#options;
    while (!signal.aborted) {
      try {
        await sweeper.run();
      } catch (error) {
        if (signal.aborted) return;
        onEvent({ kind: 'troubled', what: 'watch the other nodes', reason: reasonOf(error) });
        await this.#clock.pause(RETRY_REFUSED, signal).catch(() => {});
      }
    }
  }

  async #keepAlive(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const wait =
        this.state.kind === 'joined'
          ? ((this.#lease?.seconds ?? LEASE) * 1000) / 3
          : this.state.kind === 'refused'
            ? RETRY_REFUSED
            : RETRY;
      await this.#pause(wait);
      if (!signal.aborted) await this.#beat();
    }
  }

  async #beat(): Promise<void> {
    const { onEvent = () => {} } = this.#options;
    const { signal } = this.#ending;
    try {
      const isHere = await this.#isHere(signal);
      if (!isHere) this.#lost ??= { removed: false };
      if (!isHere || nodeCodec.encode(this.record) !== this.#written) await this.enter();
      if (this.#lost !== undefined) {
        const { removed } = this.#lost;
        await this.restore();
        onEvent({ kind: 'rejoined', removed });
      } else if (this.state.kind !== 'joined') onEvent({ kind: 'back' });
      this.state = { kind: 'joined' };
    } catch (error) {
      if (signal.aborted) return;
      const kind = error instanceof RoutingError ? 'refused' : 'away';
      const reason = reasonOf(error);
      if (this.state.kind !== kind) {
        this.state = { kind, since: this.#clock.now(), reason };
        onEvent({ kind, reason });
      }
    }
  }

  /** Whether the lease lives and the entry is as this node wrote it. */
  async #isHere(signal: AbortSignal): Promise<boolean> {
    const { store } = this.#options;
    if (this.#lease === undefined) return false;
    try {
      this.#lease = await store.keepAlive(this.#lease.id, { signal });
    } catch (error) {
      if (!StoreError.is(error, 'STORE_LEASE_GONE')) throw error;
      this.#lease = undefined;
      return false;
    }
    const entry = await store.get(NODE_KEYS.node(this.name), { signal });
    return entry?.revision === this.#entered;
  }

  /** Waits, unless there is something to do. */
  async #pause(milliseconds: number): Promise<void> {
    const early = new AbortController();
    this.#stopWaiting = () => early.abort();
    const signal = AbortSignal.any([early.signal, this.#ending.signal]);
    if (!this.#isWoken) await this.#clock.pause(milliseconds, signal).catch(() => {});
    this.#isWoken = false;
  }

  #wake(): void {
    this.#isWoken = true;
    this.#stopWaiting();
  }

  #refuseOther(instance: string | undefined): void {
    if (instance === undefined || instance === this.#options.instance) return;
    throw new RoutingError(
      'NODE_NAME_TAKEN',
      `node name ${this.name} is taken: another machine (${instance}) is in the cluster by it`,
      { hint: 'give this machine another name, or remove that node once it is gone' },
    );
  }
}

function at(key: string, entry: Entry | undefined) {
  return { key, revision: entry?.revision ?? 0 };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

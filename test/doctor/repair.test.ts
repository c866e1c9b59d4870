/**
 * Repair on the real kernel: whatever order ADD, DEL, ends of containers, deaths and restarts of the runtime, and
 * repairs come in, also at the same time, no living container's address is ever free for another.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { NetworkConfigList } from '@heddle/cni';
import { type Freed, freeLeaks, type NodePorts } from '@heddle/doctor';
import { openSession } from '@heddle/netlink';
import { Choices } from '../support/choices.ts';
import { DoctorLab, type LabPod, OWN } from './doctor-lab.ts';
import { MOMENTS } from './runtime-process.ts';

const SUBNETS = {
  ipam: { ranges: [[{ subnet: `${OWN.v4}.0/24` }], [{ subnet: `${OWN.v6}:/64` }]] },
};

/** Names that no other test has: marks of ADDs under way are the machine's, and spare whoever has the same name. */
const [GONE, ALIVE] = [`gone-${process.pid}`, `alive-${process.pid}`];

/** As if two minutes had passed between any two steps: whatever could count as old does. */
const LATER = 120_000;

function repair(lab: DoctorLab, more: Partial<NodePorts> = {}, options = {}): Promise<Freed> {
  const host = openSession({ netns: lab.handle });
  return freeLeaks({ ...lab.ports, now: () => Date.now() + LATER, ...more }, host, {
    apart: 5,
    ...options,
  }).finally(() => host[Symbol.dispose]());
}

function held(lab: DoctorLab): ReadonlyMap<string, string> {
  const directory = join(lab.reservationDir, 'podnet');
  const files = existsSync(directory) ? readdirSync(directory) : [];
  return new Map(
    files
      .filter((name) => /^[\da-f]+[.:]/.test(name))
      .map((name) => [name, readFileSync(join(directory, name), 'utf8').split('\r\n')[0] ?? '']),
  );
}

describe('repair', () => {
  test('frees what is left of containers that are gone, and nothing else; a second run frees nothing', async () => {
    using lab = new DoctorLab();
    const list = lab.podnet(SUBNETS);
    const [gone] = [await lab.attach(list, GONE), await lab.attach(list, ALIVE)];
    await lab.bury(gone);
    const dry = await repair(lab, {}, { dryRun: true });
    assert.deepEqual(dry.freed.map(({ addr }) => addr).toSorted(), [`${OWN.v4}.2`, `${OWN.v6}:2`]);
    assert.deepEqual([...new Set(held(lab).values())].toSorted(), [ALIVE, GONE]);
    const { freed } = await repair(lab);
    assert.deepEqual(freed.map(({ addr }) => addr).toSorted(), [`${OWN.v4}.2`, `${OWN.v6}:2`]);
    assert.deepEqual([...held(lab).values()], [ALIVE, ALIVE]);
    assert.deepEqual(await repair(lab), { freed: [], spared: [] });
  });

  test('spares what is young, and what a namespace has although no cache knows it', async () => {
    using lab = new DoctorLab();
    const list = lab.podnet(SUBNETS);
    const pod = await lab.attach(list, GONE);
    rmSync(lab.cacheDir, { recursive: true });
    assert.deepEqual((await repair(lab)).freed, [], 'the address is in use');
    await lab.bury(pod);
    assert.deepEqual((await repair(lab, { now: () => Date.now() })).freed, [], 'it is young');
    assert.equal((await repair(lab)).freed.length, 2);
  });

  test('spares an address that is taken anew between the looks, or before the lock is had', async () => {
    using lab = new DoctorLab();
    const list = lab.podnet(SUBNETS);
    await lab.bury(await lab.attach(list, GONE));
    let looks = 0;
    const { freed, spared } = await repair(lab, {
      // What the doctor waits by between its looks.
      async sleep() {
        looks++;
        const directory = join(lab.reservationDir, 'podnet');
        const then = new Date(Date.now() + 1);
        utimesSync(join(directory, `${OWN.v4}.2`), then, then);
      },
    });
    assert.equal(looks, 1);
    assert.deepEqual(
      freed.map(({ addr }) => addr),
      [`${OWN.v6}:2`],
    );
    assert.deepEqual(
      spared.map(({ reservation }) => reservation.addr),
      [`${OWN.v4}.2`],
    );
  });
});

/** A node on which things happen. */
class Life {
  readonly #lab: DoctorLab;
  readonly #list: NetworkConfigList;
  readonly #choices: Choices;
  readonly #alive = new Map<string, LabPod>();
  /** Pods whose runtime was killed while it attached them: it does not remember them. */
  readonly #limbo = new Map<string, LabPod>();
  /** Containers that were killed without DEL. */
  readonly #killed: LabPod[] = [];
  #count = 0;
  freed = 0;
  /** The moments at which runtimes were killed. */
  readonly crashes = new Set<string>();

  constructor(lab: DoctorLab, seed: number) {
    this.#lab = lab;
    this.#list = lab.podnet({
      ipam: { ranges: [[{ subnet: `${OWN.v4}.0/28` }], [{ subnet: `${OWN.v6}:/124` }]] },
    });
    this.#choices = new Choices(seed);
  }

  /** Some events at once. */
  async round(): Promise<void> {
    const events = Array.from({ length: 1 + this.#choices.below(4) }, () => this.#event());
    await Promise.all(events);
    this.check();
  }

  /** When all is quiet, one repair leaves what the living hold, and nothing else. */
  async settle(): Promise<void> {
    // Those that the runtime forgot end without it.
    for (const [id, pod] of this.#limbo) await this.#bury(this.#limbo, id, pod);
    await this.#repair();
    this.check();
    const owners = new Set(held(this.#lab).values());
    assert.deepEqual([...owners].toSorted(), [...this.#alive.keys()].toSorted());
  }

  #event(): Promise<void> {
    const { one } = this.#choices;
    const event = one.call(this.#choices, [
      'add',
      'add',
      'add',
      'del',
      'kill',
      'kill',
      'late del',
      'forget',
      'crash',
      'restart',
      'repair',
      'repair',
    ]);
    switch (event) {
      case 'add':
        return this.#add();
      case 'del':
        return this.#del();
      case 'kill':
        return this.#kill();
      case 'late del':
        return this.#lateDel();
      case 'forget':
        return this.#forget();
      case 'crash':
        return this.#crash();
      case 'restart':
        return this.#restart();
      default:
        return this.#repair();
    }
  }

  async #add(): Promise<void> {
    const id = `c${++this.#count}-${process.pid}`;
    try {
      const pod = await this.#lab.attach(this.#list, id);
      this.#alive.set(id, pod);
    } catch (error) {
      assert.match(String(error), /no IP addresses available/);
    }
  }

  async #del(): Promise<void> {
    const [entry] = this.#alive;
    if (entry === undefined) return;
    const [id, pod] = entry;
    this.#alive.delete(id);
    await this.#lab.cni.del(this.#list, pod.attachment);
    pod.kill();
  }

  /** The container dies, and nobody tells the runtime. */
  async #kill(): Promise<void> {
    const pods = this.#limbo.size > 0 && this.#choices.chance(3) ? this.#limbo : this.#alive;
    const entry = [...pods].at(-1);
    if (entry !== undefined) await this.#bury(pods, ...entry);
  }

  async #bury(pods: Map<string, LabPod>, id: string, pod: LabPod): Promise<void> {
    pods.delete(id);
    await this.#lab.bury(pod);
    this.#killed.push(pod);
  }

  /** The runtime finds out later. */
  async #lateDel(): Promise<void> {
    const pod = this.#killed.shift();
    if (pod !== undefined) await this.#lab.cni.del(this.#list, pod.attachment);
  }

  /** The runtime has lost its memory of one container that lives, as after a power cut. */
  async #forget(): Promise<void> {
    const [entry] = this.#alive;
    if (entry === undefined) return;
    const file = join(this.#lab.cacheDir, 'results', `podnet-${entry[0]}-eth0`);
    rmSync(file, { force: true });
  }

  /** The runtime is killed in the middle of ADD, before it could write down that there is such an attachment. */
  async #crash(): Promise<void> {
    const id = `c${++this.#count}-${process.pid}`;
    const pod = this.#lab.podOf(id);
    const moment = this.#choices.one(MOMENTS);
    const orphansEnd = await this.#lab.dieAttaching(pod, moment);
    this.crashes.add(moment);
    this.#limbo.set(id, pod);
    await orphansEnd();
  }

  /** The runtime comes back, and takes down the pods that it had not finished, of which it has no result. */
  async #restart(): Promise<void> {
    const unfinished = [...this.#limbo];
    this.#limbo.clear();
    for (const [, pod] of unfinished) {
      await this.#lab.cni.del(this.#list, pod.attachment);
      pod.kill();
    }
  }

  async #repair(): Promise<void> {
    this.freed += (await repair(this.#lab)).freed.length;
  }

  /** What must hold whenever nothing is under way. */
  check(): void {
    const reservations = held(this.#lab);
    const users = new Map<string, string>();
    for (const [id, pod] of [...this.#alive, ...this.#limbo]) {
      const addresses = pod.run('ip -o address show scope global').matchAll(/inet6? ([\d.a-f:]+)\//g);
      for (const [, address = ''] of addresses) {
        assert.equal(reservations.get(address), id, `${address} of ${id} is held for it`);
        assert.equal(users.get(address), undefined, `${address} is ${id}'s alone`);
        users.set(address, id);
      }
    }
  }
}

test('no address of a living container is ever freed, in any order of events', async (t) => {
  let freed = 0;
  const moments = new Set<string>();
  for (const seed of [1, 2, 3, 4]) {
    using lab = new DoctorLab();
    const life = new Life(lab, seed);
    for (let round = 0; round < 12; round++) await life.round();
    await life.settle();
    freed += life.freed;
    for (const moment of life.crashes) moments.add(moment);
  }
  t.diagnostic(`${freed} leaked addresses were freed meanwhile`);
  assert.ok(freed > 0, 'the events must leave something to free');
  assert.deepEqual([...moments].toSorted(), MOMENTS.toSorted(), 'runtimes must die at every moment');
});

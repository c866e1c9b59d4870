import { type Check, spec } from '../check.ts';
import { must } from '../failure.ts';
import type { Container } from '../lab/container.ts';
import { type Added, type Lab, mustSucceed } from '../lab/lab.ts';
import type { Subject } from '../subject/subject.ts';
import { mustBeAsBefore, mustBeSound } from './unless-always.ts';

const CITES = spec(
  'Section 3, Lifecycle & Ordering',
  'If necessary, they must implement locking on shared resources',
);
const WHY = 'A node that starts up starts all of its pods at once.';
const MANY = 64;

/** Many at once. */
export const CONCURRENCY_CHECKS: readonly Check[] = [
  {
    id: 'concurrency/same-network',
    title: `${MANY} ADDs to one network at once all succeed, with addresses of their own; so do ${MANY} DELs, and nothing is left`,
    cites: CITES,
    why: WHY,
    async run(lab) {
      await lab.warmUp();
      const before = await lab.snapshot();
      const containers = await lab.containers(MANY);
      mustDiffer(lab.subject, await addAll(lab, containers));
      await delAll(lab, containers);
      await mustBeAsBefore(lab, before, `${MANY} ADDs and DELs`);
    },
  },
  {
    id: 'concurrency/first-of-all',
    title: '16 ADDs at once succeed on a node where the plugin has never run, and CHECK agrees',
    cites: CITES,
    why: 'All of them find the bridge, the chains and the directories missing, and one is first.',
    async run(lab) {
      const containers = await lab.containers(16);
      mustDiffer(lab.subject, await addAll(lab, containers));
      if (!lab.subject.speaks('0.4.0')) return;
      for (const container of containers) await mustBeSound(lab, container);
    },
  },
  {
    id: 'concurrency/several-networks',
    title: '24 ADDs at once to eight networks succeed; so do the DELs, and nothing is left',
    cites: CITES,
    why: WHY,
    async run(lab) {
      await lab.warmUp();
      const before = await lab.snapshot();
      const containers = await lab.containers(24);
      const network = (index: number) => ({ config: { name: `${lab.network}-${index % 8}` } });
      await Promise.all(containers.map((container, index) => lab.add(container, network(index))));
      await Promise.all(containers.map((container, index) => lab.del(container, network(index))));
      // A network may keep a file or a directory of its own; links, addresses and rules it may not.
      await mustBeAsBefore(lab, before, 'them', isKernels);
    },
  },
  {
    id: 'concurrency/coming-and-going',
    title: 'ADDs and DELs of different containers at once do not disturb each other',
    cites: CITES,
    why: 'A rolling update is nothing else.',
    async run(lab) {
      await lab.warmUp();
      const before = await lab.snapshot();
      const early = await lab.containers(12);
      await addAll(lab, early);
      const late = await lab.containers(12);
      const [added] = await Promise.all([addAll(lab, late), delAll(lab, early)]);
      mustDiffer(lab.subject, added);
      if (lab.subject.speaks('0.4.0')) {
        for (const container of late.slice(0, 4)) await mustBeSound(lab, container);
      }
      await delAll(lab, late);
      await mustBeAsBefore(lab, before, 'ADDs and DELs');
    },
  },
  {
    id: 'concurrency/same-container',
    title: 'two DELs of one container at once both succeed',
    cites: 'beyond the spec',
    why: 'A runtime that gave up waiting sends another one while the first still runs.',
    async run(lab) {
      await lab.warmUp();
      const before = await lab.snapshot();
      const container = await lab.container();
      await lab.add(container);
      const calls = [lab.call('DEL', container), lab.call('DEL', container), lab.call('DEL', container)];
      for (const call of await Promise.all(calls)) mustSucceed(call);
      await mustBeAsBefore(lab, before, 'ADD and DELs');
    },
  },
];

function addAll(lab: Lab, containers: readonly Container[]): Promise<readonly Added[]> {
  return Promise.all(containers.map((container) => lab.add(container)));
}

async function delAll(lab: Lab, containers: readonly Container[]): Promise<void> {
  await Promise.all(containers.map((container) => lab.del(container)));
}

function mustDiffer({ allocates, kind }: Subject, added: readonly Added[]): void {
  if (!allocates || kind === 'chained') return;
  const all = added.flatMap(({ result }) => result.ips?.map(({ address }) => address) ?? []);
  const twice = all.find((address, index) => all.indexOf(address) !== index);
  must(twice === undefined, 'addresses that all differ', `${twice} twice`);
}

/** All but files. */
function isKernels(line: string): boolean {
  return !line.startsWith('file ');
}

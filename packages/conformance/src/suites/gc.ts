import { allOf, type Check, since, spec } from '../check.ts';
import { DoesNotApply, must } from '../failure.ts';
import type { Container } from '../lab/container.ts';
import { type Lab, mustSucceed, outcome } from '../lab/lab.ts';
import { snapshotOf } from '../lab/snapshot.ts';
import type { Subject } from '../subject/subject.ts';
import { refusal } from './errors.ts';
import { secondInterface } from './second-interface.ts';
import { containerUnchanged, nodeUnchanged, nothingLost } from './unchanged.ts';
import { mustBeSound, mustComeBack } from './unless-always.ts';

const can = since('1.1.0');
const STALE = spec('Section 2, GC', 'A plugin SHOULD remove as many stale resources as possible');
const VALID = spec('Section 2, GC', 'The list of **still valid** attachments to this network');

/** GC frees what is stale, all of it and nothing else. */
export const GC_CHECKS: readonly Check[] = [
  {
    id: 'gc/frees-the-stale',
    title: 'GC frees what the containers that are not listed have left on the node',
    cites: STALE,
    why: 'After a crash of the node or the runtime no DEL comes; addresses and rules would be lost for good.',
    skips: can,
    async run(lab) {
      await lab.warmUp();
      const [valid, stale] = await attached(lab, 2);
      must(valid !== undefined && stale !== undefined, 'two containers', 'fewer');
      await lab.del(stale);
      const before = await lab.snapshot();
      await mustComeBack(lab, stale);
      await lab.end(stale);
      mustSucceed(await lab.gc([valid]));
      await nodeUnchanged(lab, before, 'the stale container came');
    },
  },
  {
    id: 'gc/keeps-the-valid',
    title: 'GC leaves alone what is listed',
    cites: VALID,
    why: 'The alternative is an outage.',
    skips: can,
    async run(lab) {
      const containers = await attached(lab, 3);
      const before = await lab.snapshot();
      mustSucceed(await lab.gc(containers));
      await nothingLost(lab, before, 'GC');
      for (const container of containers) await mustBeSound(lab, container);
    },
  },
  {
    id: 'gc/keeps-each-interface',
    title: 'GC leaves both interfaces of a container alone when both are listed',
    cites: spec('Section 2, GC', 'the value of CNI_IFNAME as provided during the CNI ADD operation'),
    why: 'Who goes by the container alone cuts pods off their second network.',
    skips: allOf(can, (subject: Subject) =>
      subject.kind === 'chained' || subject.setup.ifName !== undefined
        ? 'about plugins that a container may have twice'
        : undefined,
    ),
    async run(lab) {
      const container = await lab.container();
      await lab.add(container);
      const [second, options] = await secondInterface(lab, container);
      const { exitCode } = await lab.call('ADD', second, options);
      if (exitCode !== 0) throw new DoesNotApply('there is no second interface, which another check tells');
      const before = [await lab.snapshot(), await snapshotOf(container.namespace)] as const;
      for (const list of [
        [container, second],
        [second, container],
      ]) {
        mustSucceed(await lab.gc(list));
        await nothingLost(lab, before[0], 'GC');
        await containerUnchanged(container, before[1], 'GC');
      }
    },
  },
  {
    id: 'gc/empty-list',
    title: 'GC with an empty list frees all of the network',
    cites: STALE,
    why: 'A node that comes up again has no container.',
    skips: can,
    async run(lab) {
      await lab.warmUp();
      const before = await lab.snapshot();
      const containers = await attached(lab, 3);
      for (const container of containers) await lab.end(container);
      mustSucceed(await lab.gc([]));
      await nodeUnchanged(lab, before, 'the containers came');
    },
  },
  {
    id: 'gc/by-interface',
    title: 'GC tells the interfaces of one container apart',
    cites: spec('Section 2, GC', 'the value of CNI_IFNAME as provided during the CNI ADD operation'),
    why: 'A container may have lost one of its networks.',
    skips: allOf(can, (subject: Subject) =>
      subject.kind === 'ipam' && subject.allocates
        ? undefined
        : 'about plugins whose attachments need no namespace',
    ),
    async run(lab) {
      await lab.warmUp();
      const container = await lab.container();
      await lab.add(container);
      const before = await lab.snapshot();
      await lab.add(container.withInterface('net1'));
      mustSucceed(await lab.gc([container]));
      await nodeUnchanged(lab, before, 'the second interface came');
    },
  },
  {
    id: 'gc/other-networks',
    title: 'GC of one network leaves the others alone',
    cites: spec('Section 2, GC', 'The list of **still valid** attachments to this network'),
    why: 'Their containers are on no list of this network.',
    skips: can,
    async run(lab) {
      const container = await lab.container();
      await lab.add(container);
      const before = await lab.snapshot();
      mustSucceed(await lab.gc([], { config: { name: `${lab.network}-other`, ...withoutDelegate(lab) } }));
      await nothingLost(lab, before, 'GC of another network');
      await mustBeSound(lab, container);
    },
  },
  {
    id: 'gc/twice',
    title: 'GC succeeds again, and on a node where there is nothing',
    cites: spec('Section 2, GC', 'Plugins should generally complete a `GC` action without error'),
    why: 'It runs by the clock.',
    skips: can,
    async run(lab) {
      for (let time = 0; time < 2; time++) mustSucceed(await lab.gc([]));
    },
  },
  {
    id: 'gc/without-a-list',
    title: 'GC without a list, or with one that is none, frees nothing',
    // Section 2 says that the key is there, not what its absence means.
    cites: 'beyond the spec',
    why: 'What is not said must never mean «delete everything».',
    skips: can,
    async run(lab) {
      const container = await lab.container();
      await lab.add(container);
      const before = await lab.snapshot();
      const keys = ['cni.dev/valid-attachments', 'cni.dev/attachments'];
      for (const list of [undefined, 'all', [{ containerID: 7 }]]) {
        const config = Object.fromEntries(keys.map((key) => [key, list]));
        await lab.gc([], { config: config as never });
        await nothingLost(lab, before, `GC with the list ${JSON.stringify(list)}`);
      }
    },
  },
  {
    id: 'gc/hostile-list',
    title: 'GC with names in its list that nobody can have frees nothing of others',
    cites: 'beyond the spec',
    why: 'A list is input.',
    skips: can,
    async run(lab) {
      const container = await lab.container();
      await lab.add(container);
      const { id, ifName } = container;
      const call = await lab.gc([
        { id, ifName },
        { id: '../../etc', ifName: '..' },
        { id: '', ifName: '' },
      ]);
      if (call.exitCode !== 0) refusal(call, 'or success');
      await mustBeSound(lab, container);
    },
  },
  {
    id: 'gc/del-afterwards',
    title: 'DEL of what GC has freed succeeds',
    cites: spec('Section 2, DEL', 'Plugins MUST accept multiple `DEL` calls'),
    why: 'The runtime remembers the container after all.',
    skips: can,
    async run(lab) {
      const [container] = await attached(lab, 1);
      must(container !== undefined, 'a container', 'none');
      mustSucceed(await lab.gc([]));
      const call = await lab.call('DEL', container);
      must(call.exitCode === 0, 'DEL to succeed', () => outcome(call), call);
    },
  },
  {
    id: 'gc/while-adding',
    title: 'GC does not take what an ADD of a listed container makes meanwhile',
    cites: 'beyond the spec',
    why: 'The specification wants runtimes to keep them apart; not all do.',
    skips: can,
    async run(lab) {
      await lab.warmUp();
      const containers = await lab.containers(6);
      const calls = containers.map((container) => lab.add(container));
      const gcs = [lab.gc(containers), lab.gc(containers)];
      await Promise.all(calls);
      for (const call of await Promise.all(gcs)) mustSucceed(call);
      for (const container of containers) await mustBeSound(lab, container);
    },
  },
];

async function attached(lab: Lab, count: number): Promise<readonly Container[]> {
  const containers = await lab.containers(count);
  for (const container of containers) await lab.add(container);
  return containers;
}

/** The kit's own IPAM plugin knows no networks: it would free all. */
function withoutDelegate(lab: Lab): Record<string, never> | { readonly ipam: { readonly type: string } } {
  return lab.subject.delegates ? { ipam: { type: '' } } : {};
}

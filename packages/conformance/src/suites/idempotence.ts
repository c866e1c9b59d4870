import { writeFileSync } from 'node:fs';
import { type Check, only, spec } from '../check.ts';
import { must } from '../failure.ts';
import type { Container } from '../lab/container.ts';
import type { CallOptions, Lab } from '../lab/lab.ts';
import { snapshotOf } from '../lab/snapshot.ts';
import { nodeUnchanged } from './unchanged.ts';
import { mustBeAsBefore } from './unless-always.ts';

const FULLEST = spec(
  'Section 2, DEL',
  'plugins should always complete a `DEL` action without error to the fullest extent possible, even if some resources or state are missing',
);
const AGAIN = spec('Section 2, DEL', 'Plugins MUST accept multiple `DEL` calls');

/** DEL in every order, and without what it would like to have. */
export const IDEMPOTENCE_CHECKS: readonly Check[] = [
  {
    id: 'idempotence/del-three-times',
    title: 'DEL succeeds three times in a row',
    cites: AGAIN,
    why: 'Runtimes repeat a DEL whose answer they did not get; a failure keeps the pod terminating for ever.',
    run: (lab) =>
      released(lab, async (container) => {
        for (let time = 0; time < 3; time++) await lab.del(container);
      }),
  },
  {
    id: 'idempotence/del-first',
    title: 'DEL succeeds for a container that was never attached, and makes nothing',
    cites: AGAIN,
    why: 'After a failed ADD the runtime sends it, also when ADD did not get as far as this plugin.',
    async run(lab) {
      await lab.warmUp();
      const container = await lab.container();
      const before = await lab.snapshot();
      await lab.del(container);
      await nodeUnchanged(lab, before, 'DEL');
    },
  },
  {
    id: 'idempotence/del-on-a-fresh-node',
    title: 'DEL succeeds on a node where the plugin has never run',
    cites: AGAIN,
    why: 'After a reboot everything is gone but the runtime’s memory.',
    async run(lab) {
      await lab.del(await lab.container(), { prevResult: null });
    },
  },
  without('netns-variable', 'without CNI_NETNS', { env: { CNI_NETNS: undefined } }, endIt),
  without('netns', 'when the namespace is gone', {}, endIt),
  without('netns-mount', 'when a plain file is left where the namespace was', {}, async (container, lab) => {
    await lab.end(container);
    writeFileSync(container.netns, '');
  }),
  without('previous-result', 'without a previous result', { prevResult: null }),
  without(
    'anything',
    'with neither CNI_NETNS nor a previous result',
    { prevResult: null, env: { CNI_NETNS: '' } },
    endIt,
  ),
  {
    ...without('interface', 'when the interface is gone already', {}, async ({ namespace, ifName }) => {
      await namespace.session.links.delete(ifName);
    }),
    skips: (subject) => (subject.makesInterface ? undefined : 'about plugins that make an interface'),
  },
  {
    ...without(
      'the-upstream-interface',
      'when the interface that it changed is gone already',
      {},
      async (container) => {
        await container.namespace.session.links.delete(container.ifName);
      },
    ),
    skips: only('chained'),
  },
  {
    id: 'idempotence/del-with-broken-config',
    title: 'DEL succeeds when the rest of the configuration makes no sense any more',
    cites: 'beyond the spec',
    why: 'Somebody has edited it since; the containers of before must still go away.',
    async run(lab) {
      const container = await lab.container();
      await lab.add(container);
      const wrong = Object.fromEntries(
        Object.entries(lab.subject.object(container.n)).map(([key, value]) => [
          key,
          typeof value === 'number' ? -1 : typeof value === 'boolean' ? !value : value,
        ]),
      );
      await lab.del(container, { config: wrong });
      await lab.del(container);
    },
  },
  {
    id: 'idempotence/add-again',
    title: 'ADD works again after DEL, with the same names',
    cites: spec(
      'Section 3, Lifecycle & Ordering',
      'The container runtime must ensure that _add_ is eventually followed by a corresponding _delete_',
    ),
    why: 'Stateful pods come back under their names.',
    async run(lab) {
      const container = await lab.container();
      for (let time = 0; time < 3; time++) {
        await lab.add(container);
        await lab.del(container);
      }
    },
  },
  {
    id: 'idempotence/del-is-complete-at-once',
    title: 'a second DEL finds nothing left to do',
    cites: 'beyond the spec',
    why: 'What only the second one takes away stays in most cases, for there mostly is but one.',
    async run(lab) {
      await lab.warmUp();
      const container = await lab.container();
      await lab.add(container);
      await lab.del(container);
      const [node, inside] = [await lab.snapshot(), await snapshotOf(container.namespace)];
      await lab.del(container);
      await nodeUnchanged(lab, node, 'the second DEL');
      const after = await snapshotOf(container.namespace);
      must(after.join() === inside.join(), 'a container as the first DEL left it', 'another one');
    },
  },
];

/** The container is gone before DEL. */
function endIt(container: Container, lab: Lab): Promise<void> {
  return lab.end(container);
}

/** DEL lacks something; it must succeed, and give back what is on the node. */
function without(
  name: string,
  circumstance: string,
  options: CallOptions,
  before: (container: Container, lab: Lab) => void | Promise<void> = () => {},
): Check {
  return {
    id: `idempotence/del-without-${name}`,
    title: `DEL ${circumstance} succeeds, and gives back what is on the node`,
    cites: FULLEST,
    why: 'Containers end in any order; what stays is lost to the node until it is installed anew.',
    run: (lab) =>
      released(lab, async (container) => {
        await before(container, lab);
        await lab.del(container, options);
      }),
  };
}

/** ADD, then `remove`; the node must be as it was. */
async function released(lab: Lab, remove: (container: Container) => Promise<void>): Promise<void> {
  await lab.warmUp();
  const before = await lab.snapshot();
  const container = await lab.container();
  await lab.add(container);
  await remove(container);
  await mustBeAsBefore(lab, before, 'ADD and DEL');
}

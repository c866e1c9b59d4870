/** What must hold when a plugin, or the daemon that it talks to, is killed at any system call that changes something. */
import { type Check, type Citation, since, spec } from '../check.ts';
import { killEverywhere, type Scene } from './kill-everywhere.ts';
import { killEverywhereAtFirst } from './kill-first.ts';
import { eachDaemon, plugin } from './victims.ts';

const LIFECYCLE = spec(
  'Section 3, Lifecycle & Ordering',
  'The container runtime must ensure that _add_ is eventually followed by a corresponding _delete_',
);
const REPEATED_DEL = spec('Section 2, DEL', 'Plugins MUST accept multiple `DEL` calls');
const COLLECTED = spec('Section 2, GC', 'A plugin SHOULD remove as many stale resources as possible');
const WHY =
  'Runtimes time out and kill, machines run out of memory, nodes lose their power; then the same pod comes again.';
const WHY_DAEMON = 'Daemons are upgraded, and killed when memory is short, while containers come and go.';

const ADD: Scene = {
  command: 'ADD',
  prepare: async () => {},
  call: (lab, container, options) => lab.call('ADD', container, options),
  clean: (lab, container) => lab.del(container, { prevResult: null }),
};
const DEL: Scene = {
  command: 'DEL',
  prepare: (lab, container) => lab.add(container),
  call: (lab, container, options) => lab.call('DEL', container, options),
  clean: (lab, container) => lab.del(container),
};
const GC: Scene = {
  command: 'GC',
  prepare: async (lab, container) => {
    await lab.add(container);
    await lab.end(container);
  },
  call: (lab, _, options) => lab.gc([], options),
  clean: async () => {},
};

/** See the file's comment. */
export const CRASH_CHECKS: readonly Check[] = [
  ...killed('add', ADD, {
    title: (whom) =>
      `wherever ${whom} is killed in an ADD, DEL and GC bring back what was before, and ADD works again`,
    cites: LIFECYCLE,
  }),
  {
    id: 'crash/first-add',
    title:
      'wherever the first ADD on a node is killed, DEL and GC leave no more than after a whole one, and ADD works',
    cites: LIFECYCLE,
    why: 'What all attachments share is made then: what is half made must neither stay so nor stand in the way.',
    run: (lab) => killEverywhereAtFirst(lab, plugin),
  },
  ...killed('del', DEL, {
    title: (whom) =>
      `wherever ${whom} is killed in a DEL, the next DEL and GC bring back what was before, and ADD works again`,
    cites: REPEATED_DEL,
  }),
  ...killed('gc', GC, {
    title: (whom) =>
      `wherever ${whom} is killed in a GC, the next GC brings back what was before, and ADD works again`,
    cites: COLLECTED,
    skips: since('1.1.0'),
  }),
  {
    id: 'crash/daemon-first-add',
    title:
      'wherever the daemon is killed in the first ADD on a node, the same holds, once there is another daemon',
    cites: LIFECYCLE,
    why: WHY_DAEMON,
    run: (lab) => eachDaemon(lab, (daemon) => killEverywhereAtFirst(lab, daemon)),
  },
];

/** The same for the plugin and for the daemon. */
function killed(
  name: 'add' | 'del' | 'gc',
  scene: Scene,
  { title, ...more }: { title: (whom: string) => string; cites: Citation } & Pick<Check, 'skips'>,
): readonly Check[] {
  return [
    {
      ...more,
      id: `crash/${name}`,
      title: title('it'),
      why: WHY,
      run: (lab) => killEverywhere(lab, scene, plugin),
    },
    {
      ...more,
      id: `crash/daemon-${name}`,
      title: title('the daemon'),
      why: WHY_DAEMON,
      run: (lab) => eachDaemon(lab, (daemon) => killEverywhere(lab, scene, daemon)),
    },
  ];
}

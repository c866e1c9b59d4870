import { allOf, type Check, since, spec } from '../check.ts';
import { mustSucceed } from '../lab/lab.ts';
import type { Subject } from '../subject/subject.ts';
import { refusalWith } from './errors.ts';
import { nodeUnchanged } from './unchanged.ts';

const can = since('1.1.0');

/** STATUS tells whether ADD would work. */
export const STATUS_CHECKS: readonly Check[] = [
  {
    id: 'status/ready',
    title: 'STATUS succeeds where ADD would, without any variable of a container',
    cites: spec(
      'Section 2, STATUS',
      'exit with a zero (success) return code if the plugin is ready to service ADD requests',
    ),
    why: 'The node is not ready before that, and no pod is scheduled on it.',
    skips: can,
    async run(lab) {
      mustSucceed(await lab.call('STATUS'));
      await lab.add(await lab.container());
      mustSucceed(await lab.call('STATUS'));
    },
  },
  {
    id: 'status/changes-nothing',
    title: 'STATUS changes nothing',
    cites: spec('Section 2, STATUS', 'Status is purely informational'),
    why: 'It is asked every few seconds.',
    skips: can,
    async run(lab) {
      const before = await lab.snapshot();
      mustSucceed(await lab.call('STATUS'));
      await nodeUnchanged(lab, before, 'STATUS');
    },
  },
  {
    id: 'status/exhausted',
    title: 'STATUS is an error while no address is left',
    cites: spec(
      'Section 2, STATUS',
      'it should return an error if those resources are exhausted and no new `ADD` requests can be serviced',
    ),
    why: 'The scheduler would go on sending pods that cannot start.',
    skips: allOf(can, ({ kind, setup }: Subject) =>
      kind === 'ipam' && setup.smallPool !== undefined
        ? undefined
        : 'the kit knows of no configuration with few addresses',
    ),
    async run(lab) {
      const options = { config: lab.subject.setup.smallPool ?? {} };
      for (let made = 0; made < 40; made++) {
        const call = await lab.call('ADD', await lab.container(), options);
        if (call.exitCode !== 0) break;
      }
      refusalWith(
        await lab.call('STATUS', undefined, options),
        [50, 51],
        'from STATUS while no address is left',
      );
    },
  },
];

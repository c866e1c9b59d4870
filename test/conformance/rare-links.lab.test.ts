/**
 * Our plugins for links that few kernels have, by the conformance kit: an emulated machine is slow, so an ordinary run has
 * what is about their links, and kills at three calls of an ADD; HEDDLE_CONFORMANCE=all has all checks,
 * HEDDLE_CONFORMANCE=vlan,vrf all of those plugins.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { buildCrash } from '../../scripts/build-crash.ts';
import { THROUGH_AGENT } from '../support/agent-lane.ts';
import { installPlugins } from '../support/plugin-directory.ts';
import { mustPass } from './own-plugin.ts';

/** What an ordinary run has of each: whatever its kind, some of these are about it. */
const ORDINARY = {
  only: [
    'interface/makes-it',
    'interface/true-addresses',
    'interface/true-routes',
    'chained/passes-on',
    'chained/undoes',
    'check/right-after-add',
    'check/notices-interface',
    'gc/frees-the-stale',
    'leaks/node',
    'leaks/container',
    'crash/add',
    'crash/daemon-add',
  ],
  atLeast: 7,
  // The first call, one in the middle, and after the last.
  crashPoints: 3,
} as const;
const asked = process.env['HEDDLE_CONFORMANCE'];

let directory: string;
before(() => {
  buildCrash();
  directory = mkdtempSync(join(tmpdir(), 'heddle-own-'));
  installPlugins(join(directory, 'bin'));
});
after(() => rmSync(directory, { recursive: true, force: true }));

for (const type of ['dummy', 'ipvlan', 'vlan', 'vrf']) {
  const isWhole = asked === 'all' || asked?.split(',').includes(type) === true;
  const what = `${isWhole ? 'all' : 'the'} checks${isWhole ? '' : ' of its links'}`;
  test(`${type} passes ${what}${THROUGH_AGENT ? ' through the agent' : ''}`, (t) =>
    mustPass(t, { directory: join(directory, 'bin'), type, ...(isWhole ? { atLeast: 50 } : ORDINARY) }));
}

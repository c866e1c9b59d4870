/**
 * Our own plugins pass every check of the conformance kit; nothing is excused. An ordinary run has one plugin of each way of
 * working, HEDDLE_CONFORMANCE=all has all of them, HEDDLE_CONFORMANCE=ptp,sbr those named.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { PLUGINS } from '@heddle/plugins';
import { buildCrash } from '../../scripts/build-crash.ts';
import { missingLinkKinds } from '../../scripts/lab/link-kinds.ts';
import { THROUGH_AGENT } from '../support/agent-lane.ts';
import { installPlugins } from '../support/plugin-directory.ts';
import { mustPass } from './own-plugin.ts';

/** An interface with everything, one without delegation, addresses, rules on the node, parameters in the container. */
const ORDINARY: readonly string[] = ['bridge', 'loopback', 'host-local', 'portmap', 'tuning'];
const MISSING = missingLinkKinds();
const asked = process.env['HEDDLE_CONFORMANCE'];

/** Those that take addresses from the agent of a node of a cluster. */
const OF_CLUSTER: readonly string[] = ['heddle', 'heddle-ipam'];
const NODE = {
  command: `${process.execPath} --conditions=source ${resolve('test/node/conformance-node.ts')}`,
  ready: '/run/heddle/kit-ready',
};

/** Why a plugin is not checked now. */
function skips(type: string): string | false {
  if (MISSING.includes(type)) return `this kernel has no links of kind ${type}: the lab has`;
  if (THROUGH_AGENT && OF_CLUSTER.includes(type))
    return 'its node runs beside it, and serves no calls of plugins';
  const wanted = asked === undefined ? ORDINARY : asked.split(',');
  return wanted.includes(type) || asked === 'all' ? false : 'only with HEDDLE_CONFORMANCE=all';
}

let directory: string;
before(() => {
  buildCrash();
  directory = mkdtempSync(join(tmpdir(), 'heddle-own-'));
  installPlugins(join(directory, 'bin'));
});
after(() => rmSync(directory, { recursive: true, force: true }));

for (const type of PLUGINS.keys()) {
  test(`${type} passes all checks${THROUGH_AGENT ? ' through the agent' : ''}`, { skip: skips(type) }, (t) =>
    mustPass(t, {
      ...{ directory: join(directory, 'bin'), type, atLeast: 50 },
      ...(OF_CLUSTER.includes(type) && { daemon: NODE }),
    }),
  );
}

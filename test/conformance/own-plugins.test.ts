/**
 * Our own plugins pass every check of the conformance kit; nothing is excused. An ordinary run has one plugin of each way of
 * working, HEDDLE_CONFORMANCE=all has all of them, HEDDLE_CONFORMANCE=ptp,sbr those named.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { PLUGINS } from '@heddle/plugins';
import { buildCrash } from '../../scripts/build-crash.ts';
import { missingLinkKinds } from '../../scripts/lab/link-kinds.ts';
import { THROUGH_AGENT } from '../support/agent-lane.ts';
import { installPlugins } from '../support/plugin-directory.ts';

/** An interface with everything, one without delegation, addresses, rules on the node, parameters in the container. */
const ORDINARY: readonly string[] = ['bridge', 'loopback', 'host-local', 'portmap', 'tuning'];
const MISSING = missingLinkKinds();
const asked = process.env['HEDDLE_CONFORMANCE'];

/** Why a plugin is not checked now. */
function skips(type: string): string | false {
  if (type === 'dhcp') return 'needs a DHCP server in the network, which the kit has not';
  if (MISSING.includes(type)) return `this kernel has no links of kind ${type}`;
  const wanted = asked === undefined ? ORDINARY : asked.split(',');
  return wanted.includes(type) || asked === 'all' ? false : 'only with HEDDLE_CONFORMANCE=all';
}

interface Report {
  readonly passed: number;
  readonly checks: readonly {
    readonly id: string;
    readonly status: string;
    readonly note: string | null;
    readonly failure: { readonly expected: string; readonly got: string } | null;
  }[];
}

let directory: string;
before(() => {
  buildCrash();
  directory = mkdtempSync(join(tmpdir(), 'heddle-own-'));
  installPlugins(join(directory, 'bin'));
});
after(() => rmSync(directory, { recursive: true, force: true }));

for (const type of PLUGINS.keys()) {
  test(`${type} passes all checks${THROUGH_AGENT ? ' through the agent' : ''}`, { skip: skips(type) }, () => {
    const command = ['--conditions=source', resolve('packages/cli/src/main.ts')];
    const agent = [
      '--daemon',
      [process.execPath, ...command, 'agent'].join(' '),
      '--ready',
      '/run/heddle/agent.sock',
    ];
    const args = [
      ...[...command, 'conformance', join(directory, 'bin', type), '-o', 'json'],
      ...(THROUGH_AGENT ? agent : []),
      ...(process.env['HEDDLE_CRASH'] === 'all' ? ['--crash', 'all'] : []),
    ];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
    assert.match(stdout, /^\{/, stderr);
    const { checks, passed } = JSON.parse(stdout) as Report;
    assert.deepEqual(
      checks
        .filter(({ status }) => status === 'failed')
        .map(({ id, failure }) => `${id}: expected ${failure?.expected}; got ${failure?.got}`),
      [],
    );
    assert.ok(passed > 50, `only ${passed} checks were about it`);
    for (const { id, note } of checks) if (note !== null) console.log(`${type}: ${id}: ${note}`);
  });
}

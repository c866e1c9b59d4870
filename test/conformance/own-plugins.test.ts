/** Our own plugins pass every check of the conformance kit; nothing is excused. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { PLUGINS } from '@heddle/plugins';
import { THROUGH_AGENT } from '../support/agent-lane.ts';
import { installPlugins } from '../support/plugin-directory.ts';

/** Why a plugin is not checked here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  dhcp: 'needs a DHCP server in the network',
  dummy: 'needs links that small kernels cannot make',
  ipvlan: 'needs links that small kernels cannot make',
  vlan: 'needs links that small kernels cannot make',
  vrf: 'needs links that small kernels cannot make',
};

interface Report {
  readonly passed: number;
  readonly checks: readonly {
    readonly id: string;
    readonly status: string;
    readonly failure: { readonly expected: string; readonly got: string } | null;
  }[];
}

let directory: string;
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'heddle-own-'));
  installPlugins(join(directory, 'bin'));
});
after(() => rmSync(directory, { recursive: true, force: true }));

for (const type of PLUGINS.keys()) {
  const skip = ELSEWHERE[type] ?? false;
  test(`${type} passes all checks${THROUGH_AGENT ? ' through the agent' : ''}`, { skip }, () => {
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
  });
}

/** `heddle bench` as it is typed, with both of our own ways to serve a call. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { BenchReport } from '@heddle/bench';
import { PLUGINS } from '@heddle/plugins';
import { buildDriver } from '../../scripts/build-driver.ts';
import { buildStandalone } from '../../scripts/build-standalone.ts';
import { installClient } from '../support/plugin-directory.ts';

const root = mkdtempSync(join(tmpdir(), 'heddle-bench-'));
const program = join(root, 'program');
const client = join(root, 'client');
const network = join(root, '10-podnet.conflist');

before(() => {
  buildDriver();
  mkdirSync(program);
  for (const type of PLUGINS.keys())
    symlinkSync(resolve(buildStandalone(), 'heddle-cni'), join(program, type));
  installClient(client);
  const ranges = [[{ subnet: '10.88.0.0/16' }], [{ subnet: 'fd88::/64' }]];
  writeFileSync(
    network,
    JSON.stringify({
      cniVersion: '1.1.0',
      name: 'podnet',
      plugins: [
        { type: 'bridge', bridge: 'hdbench0', isGateway: true, ipam: { type: 'host-local', ranges } },
        { type: 'portmap', capabilities: { portMappings: true } },
      ],
    }),
  );
});
after(() => rmSync(root, { recursive: true }));

function bench(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(resolve('bin/heddle'), ['bench', ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const SIDES = ['--baseline', program, '--candidate', client];
const ONCE = ['--rounds', '1', '--warmup', '0'];
const QUICK = [...SIDES, '--network', network, ...ONCE];

describe('heddle bench', () => {
  test('compares two directories on a node in use, and leaves nothing', () => {
    const interfaces = readdirSync('/sys/class/net');
    const full = ['--pods', '1', '--ports', '1', '--fill-reservations', '50', '--fill-mappings', '25'];
    const { status, stdout, stderr } = bench(
      ...QUICK,
      ...full,
      '--batch',
      '3',
      '--parallel',
      '2',
      '-o',
      'json',
    );
    assert.equal(status, 0, stderr);
    const { environment, workload, networks } = JSON.parse(stdout) as BenchReport;
    assert.deepEqual(workload.fill, { pods: 1, reservations: 50, mappings: 25 });
    assert.match(environment.commit, /^[0-9a-f]{40}$/);
    const [report] = networks;
    assert.deepEqual(report?.probes, ['10.88.0.1', 'fd88::1']);
    assert.deepEqual(
      report?.contenders.map(({ name, hasAgent }) => [name, hasAgent]),
      [
        ['baseline', false],
        ['candidate', true],
      ],
    );
    for (const { verb, contender, latency, failures, plugins, samples } of report?.measurements ?? []) {
      assert.deepEqual(failures, {}, `${verb} of ${contender}`);
      assert.equal(latency.count, 3);
      assert.equal(samples.throughput.length, 1);
      assert.equal(plugins.length, 2);
    }
    assert.equal(report?.measurements.length, 8);
    assert.deepEqual(readdirSync('/sys/class/net'), interfaces);
  });

  test('prints a table, and draws what it has measured', () => {
    const drawing = join(root, 'out.svg');
    const { status, stdout, stderr } = bench(
      ...QUICK,
      '--no-agent',
      '--verb',
      'CHECK',
      '--svg',
      drawing,
      '-o',
      'wide',
    );
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^VERB +SIDE +MS \(MIDDLE HALF\)/m);
    for (const verb of ['ADD', 'CHECK', 'DEL']) {
      assert.match(stdout, new RegExp(`^${verb} +candidate .* 1/1$`, 'm'));
      assert.match(stdout, new RegExp(`^${verb} +portmap +baseline +\\d`, 'm'));
    }
    assert.ok(!stdout.includes('VERSION'));
    assert.match(readFileSync(drawing, 'utf8'), /^<svg [\s\S]*<\/svg>\n$/);
  });

  const refused: readonly (readonly [args: readonly string[], reason: RegExp])[] = [
    [
      [...SIDES, '--network', network, '--rounds', '0'],
      /^heddle: rounds must be a whole number, 1 or more: 0$/m,
    ],
    [[...SIDES, '--network', network, '--rounds', 'x'], /^heddle: failed to parse "x" for rounds: /m],
    [
      ['--baseline', '/nowhere', '--network', network],
      /^heddle: baseline: there is no plugin bridge in \/nowhere$/m,
    ],
    [[...SIDES, '--network', '/nowhere.conflist'], /^heddle: .*\/nowhere\.conflist/m],
    [
      [...QUICK, '--fill-reservations', '70000'],
      /^heddle: 10\.88\.0\.0\/16 has no room for 70000 reservations$/m,
    ],
  ];
  for (const [args, reason] of refused) {
    test(`refuses ${args.slice(-2).join(' ')}`, () => {
      const { status, stderr } = bench(...args);
      assert.notEqual(status, 0);
      assert.match(stderr, reason);
    });
  }
});

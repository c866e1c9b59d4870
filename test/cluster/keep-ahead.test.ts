/** `heddle up --keep-ahead`: what the cluster's nodes are told by it, what they do then, and what is refused. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningLab, specOf } from '@heddle/lab';
import { until } from '../support/until.ts';
import { heddleProgram, startLab } from './cluster-lab.ts';

let lab: RunningLab;

before(async () => {
  lab = await startLab(specOf({ nodes: 1, pods: 0, network: { wiring: 'by-hand' } }));
});

after(async () => {
  await lab.down();
});

const heddle = (...args: readonly string[]) =>
  lab.ask('run', { on: 'node1', command: [...heddleProgram(), ...args] });

/** Runs the command, which must succeed. @returns what it printed */
async function must(...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await heddle(...args);
  assert.equal(status, 0, `${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

const REFUSED: readonly (readonly [what: string, args: readonly string[], message: RegExp])[] = [
  [
    'nodes have subnets',
    ['--pool', '10.50.0.0/16', '--subnet', '10.50.1.0/24', '--keep-ahead', '8'],
    /subnets of their own, and claim no blocks \(mode node-subnets\)/,
  ],
  ['no number', ['--keep-ahead', 'many'], /expected a number of addresses, at most 65536, got many/],
  ['too many', ['--keep-ahead', '65537'], /expected a number of addresses, at most 65536, got 65537/],
];

for (const [what, args, message] of REFUSED) {
  test(`refused, and nothing is changed: ${what}`, async () => {
    const { status, stderr } = await heddle('up', '--store', 'sqlite:///run/lab/refused.db', ...args);
    assert.notEqual(status, 0);
    assert.match(stderr, message);
    assert.notEqual(
      (await lab.ask('run', { on: 'node1', command: ['ls', '/etc/heddle/node.json'] })).status,
      0,
    );
  });
}

test('nodes are kept ahead of their need from when the first is told to, and no more when one is told so', async () => {
  const up = ['up', '--name', 'node1', '--store', 'sqlite:///run/lab/ahead.db'];
  // Without an overlay the node itself needs no address of the pools.
  await must(...up, '--keep-ahead', '70', '--encapsulation', 'never');
  const show = async () => JSON.parse(await must('ipam', 'show', '-o', 'json'));
  await until('its blocks', async () => (await show()).nodes[0]?.blocks === 4 || undefined);
  const { mode, ahead, nodes } = await show();
  assert.deepEqual(
    [mode, ahead, nodes],
    ['cluster-pool', 70, [{ node: 'node1', blocks: 4, held: 0, free: 256 }]],
  );
  const status = async () => (await heddle('node', 'status')).stdout;
  const said = /^ahead +128 of IPv4 free; 128 of IPv6 free$/m;
  await until('the node to say so', async () => said.test(await status()) || undefined);
  await must(...up, '--keep-ahead', '0');
  assert.equal((await show()).mode, 'blocks');
  await must('down');
});

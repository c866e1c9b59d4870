/** `heddle up` and `heddle down` on bare machines: what is refused, with which words, and that nothing is changed then. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningLab, specOf } from '@heddle/lab';
import { until } from '../support/until.ts';
import { heddleProgram, startLab } from './cluster-lab.ts';

const SHARED = 'sqlite:///run/lab/store.db';
let lab: RunningLab;

before(async () => {
  lab = await startLab(specOf({ nodes: 2, pods: 0, network: { wiring: 'by-hand' } }));
});

after(async () => {
  await lab.down();
});

const on = (node: string, ...command: readonly string[]) => lab.ask('run', { on: node, command });
const heddle = (node: string, ...args: readonly string[]) => on(node, ...heddleProgram(), ...args);

/** Runs a command that must succeed. @returns what it printed */
async function must(node: string, ...command: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await on(node, ...command);
  assert.equal(status, 0, `${node}: ${command.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

async function assertUnchanged(node: string): Promise<void> {
  const { stdout } = await on(node, 'sh', '-c', 'ls /etc/heddle /etc/cni/net.d; ls -d /run/heddle/agent.pid');
  assert.doesNotMatch(stdout, /node\.json|10-heddle|agent\.pid/);
}

const REFUSED: readonly (readonly [what: string, args: readonly string[], message: RegExp])[] = [
  [
    'a pool within the network between nodes',
    ['--pool', '198.18.1.0/26'],
    /pool pods-ipv4: 198\.18\.1\.0\/26 overlaps 198\.18\.1\.0\/24/,
  ],
  [
    'pools that overlap',
    ['--pool', '10.1.0.0/16', '--pool', '10.1.2.0/24'],
    /10\.1\.2\.0\/24 overlaps 10\.1\.0\.0\/16/,
  ],
  [
    'a pool within the range of services',
    ['--pool', '10.96.4.0/24', '--service-cidr', '10.96.0.0/12'],
    /10\.96\.4\.0\/24 overlaps 10\.96\.0\.0\/12, the range of services/,
  ],
  ['a pool with host bits', ['--pool', '10.1.2.3/16'], /10\.1\.2\.3\/16 has host bits set/],
  [
    'a store that is none',
    ['--store', 'zookeeper://127.0.0.1'],
    /expected sqlite:\/\/\/an\/absolute\/path or etcd:/,
  ],
  ['a store that nobody serves', ['--store', 'etcd://198.18.1.99:2379'], /198\.18\.1\.99/],
  [
    'a certificate that is not there',
    ['--store', 'etcd://198.18.1.99:2379', '--ca', '/etc/none.pem'],
    /tls: read \/etc\/none\.pem: ENOENT/,
  ],
  ['a name that is none', ['--name', 'Node_1'], /expected a DNS name/],
  ['a link that is not there', ['--interface', 'eth7'], /eth7/],
  ['a link without an address', ['--interface', 'lo'], /link lo is down, or has no global address/],
];

for (const [what, args, message] of REFUSED) {
  test(`refused: ${what}`, async () => {
    const { status, stderr } = await heddle('node1', 'up', ...args);
    assert.notEqual(status, 0);
    assert.match(stderr, message);
    await assertUnchanged('node1');
  });
}

test('a network of the same name that is somebody else’s stays, and is told', async () => {
  const file = '/etc/cni/net.d/10-heddle.conflist';
  await on('node1', 'sh', '-c', `echo '{}' > ${file}`);
  const { status, stderr } = await heddle('node1', 'up');
  assert.equal(status, 3);
  assert.match(stderr, /in the way: \/etc\/cni\/net\.d\/10-heddle\.conflist/);
  assert.equal((await on('node1', 'cat', file)).stdout, '{}\n');
  await on('node1', 'rm', file);
  await assertUnchanged('node1');
});

test('a machine joins, joins again, and leaves; another one cannot have its name meanwhile', async () => {
  const joined = await heddle('node1', 'up', '--name', 'first', '--store', SHARED, '-o', 'json');
  assert.equal(joined.status, 0, joined.stderr);
  const { node, store, poolsMade, agent } = JSON.parse(joined.stdout);
  assert.deepEqual(
    { node, store, poolsMade },
    { node: 'first', store: SHARED, poolsMade: ['pods-ipv4', 'pods-ipv6'] },
  );
  assert.equal((await on('node1', 'stat', '-c', '%a', '/etc/heddle/node.json')).stdout.trim(), '600');

  const taken = await heddle('node2', 'up', '--name', 'first', '--store', SHARED);
  assert.equal(taken.status, 1);
  assert.match(taken.stderr, /node first is in the cluster already, as another machine: 198\.18\.1\.11\/24/);
  await assertUnchanged('node2');

  const other = await heddle('node1', 'up', '--name', 'second');
  assert.match(other.stderr, /this node has the name first, and cannot become second/);

  const again = await heddle('node1', 'up', '-o', 'json');
  assert.equal(again.status, 0, again.stderr);
  assert.deepEqual(JSON.parse(again.stdout).poolsMade, []);
  assert.notEqual(JSON.parse(again.stdout).agent, agent);
  const ended = async () => (await on('node1', 'test', '-e', `/proc/${agent}`)).status !== 0;
  await until('the former agent to end', async () => ((await ended()) ? true : undefined), 60);

  const prepared = await heddle('node1', 'up', '--no-start');
  assert.equal(
    prepared.stdout,
    `node first is in the cluster at ${SHARED}\n` +
      'no agent was started, and pods wait for one: heddle agent --node /etc/heddle/node.json\n' +
      'under systemd, with deploy/systemd installed: systemctl enable --now heddle-agent.service\n',
  );

  const left = await heddle('node1', 'down');
  assert.equal(left.status, 0, left.stderr);
  await assertUnchanged('node1');
  const now = await heddle('node2', 'up', '--name', 'first', '--store', SHARED);
  assert.equal(now.status, 0, now.stderr);
  assert.equal((await heddle('node2', 'down')).status, 0);
});

test('a node with a subnet gives addresses of that only, and no other node can have it', async () => {
  const store = 'sqlite:///run/lab/subnets.db';
  const up = (node: string, ...args: readonly string[]) =>
    heddle(node, 'up', '--name', node, '--store', store, '--subnet', '10.50.1.0/24', ...args);
  const outside = await up('node1', '--pool', '10.51.0.0/16');
  assert.match(outside.stderr, /subnet 10\.50\.1\.0\/24 is in no pool of the cluster/);
  await assertUnchanged('node1');
  const joined = await up('node1', '--pool', '10.50.0.0/16');
  assert.equal(joined.status, 0, joined.stderr);
  await on('node1', 'ip', 'netns', 'add', 'pod');
  const added = await heddle('node1', 'add', 'heddle', 'pod');
  assert.equal(added.status, 0, added.stderr);
  const { ips } = JSON.parse(added.stdout) as { ips: { address: string }[] };
  assert.ok(
    ips.some(({ address }) => address.startsWith('10.50.1.')),
    added.stdout,
  );
  const taken = await up('node2');
  assert.equal(taken.status, 1);
  assert.match(taken.stderr, /subnet 10\.50\.1\.0\/24: its block 10\.50\.1\.0\/26 belongs to node node1/);
  await assertUnchanged('node2');
  assert.equal((await heddle('node1', 'del', 'heddle', 'pod')).status, 0);
  assert.equal((await heddle('node1', 'down')).status, 0);
});

test('a VXLAN of somebody else with the cluster’s number is told, left alone, and no trouble once it is gone', async () => {
  const run = (...command: readonly string[]) => must('node1', ...command);
  // It fails while there is a problem.
  const status = async () => (await heddle('node1', 'node', 'status')).stdout;
  await run(...'ip link add theirs type vxlan id 72 dstport 4789 local 198.18.1.11 nolearning'.split(' '));
  const store = 'sqlite:///run/lab/vxlan.db';
  await run(...heddleProgram(), 'up', '--name', 'first', '--store', store, '--encapsulation', 'always');
  await until('it to be told', async () => CLASH.test(await status()) || undefined);
  await run('ip', 'link', 'show', 'theirs');
  await run('ip', 'link', 'delete', 'theirs');
  await until('nothing to be told', async () => /^problems +none$/m.test(await status()) || undefined);
  await run('ip', 'link', 'show', 'heddle-vxlan');
  await run(...heddleProgram(), 'down');
});

const CLASH = /VNI 72 on UDP port 4789 is in use by link theirs, which is not Heddle's/;

test('a node that has another address is reached there, and pods go on', async () => {
  const up = ['up', '--store', 'sqlite:///run/lab/moved.db', '--encapsulation', 'always'];
  const addresses: string[][] = [];
  for (const node of ['node1', 'node2']) {
    await must(node, ...heddleProgram(), ...up, '--name', node);
    await must(node, 'ip', 'netns', 'add', 'moving');
    const { ips } = JSON.parse(await must(node, ...heddleProgram(), 'add', 'heddle', 'moving'));
    addresses.push(ips.map(({ address }: { address: string }) => address.split('/')[0]));
  }
  const reached = async () => {
    for (const address of addresses[1] ?? []) {
      const ping = ['ip', 'netns', 'exec', 'moving', 'ping', '-n', '-c1', '-W2', address];
      await until(`${address} to answer`, async () => (await on('node1', ...ping)).status === 0 || undefined);
    }
  };
  await reached();
  await must(
    'node2',
    'sh',
    '-ec',
    `gateway=$(ip route show default | cut -d' ' -f3)
     ip address delete 198.18.1.12/24 dev eth0
     ip address add 198.18.1.112/24 dev eth0
     ip route replace default via $gateway`,
  );
  const known = async () => (await heddle('node1', 'node', 'status')).stdout;
  const isKnown = async () => /^node2 +198\.18\.1\.112\/24 .*alive$/m.test(await known()) || undefined;
  await until('the other one to know', isKnown);
  await reached();
  for (const node of ['node1', 'node2']) {
    await must(node, ...heddleProgram(), 'del', 'heddle', 'moving');
    await must(node, ...heddleProgram(), 'down');
  }
});

test('without a cluster there is nothing to show or to leave', async () => {
  for (const command of [['down'], ['node', 'ls']]) {
    const { status, stderr } = await heddle('node1', ...command);
    assert.equal(status, 1);
    assert.match(stderr, /this machine is no node: there is no \/etc\/heddle\/node\.json/);
  }
});

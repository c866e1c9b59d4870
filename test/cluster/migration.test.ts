/** Nodes of Flannel become nodes of Heddle, one after the other, and no packet of their pods is lost. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningLab, specOf } from '@heddle/lab';
import { until } from '../support/until.ts';
import { heddleProgram, startLab } from './cluster-lab.ts';
import {
  addPod,
  heddle,
  must,
  reaches,
  type StagedPod,
  type Stream,
  stageFlannel,
  stream,
  subnetsOf,
} from './flannel-nodes.ts';

const STORE = 'sqlite:///run/lab/store.db';
const NODES = [1, 2, 3].map((number) => `node${number}`);
let lab: RunningLab;
const old: StagedPod[] = [];
const fresh: StagedPod[] = [];
const streams: Stream[] = [];

before(async () => {
  lab = await startLab(specOf({ nodes: NODES.length, pods: 0, network: { wiring: 'by-hand' } }));
  await stageFlannel(lab, NODES.length);
  for (const [node, name] of [
    ['node1', 'old1'],
    ['node1', 'old1b'],
    ['node2', 'old2'],
    ['node3', 'old3'],
  ] as const) {
    old.push(await addPod(lab, node, 'cbr0', name));
  }
});

after(async () => {
  await lab.down();
});

const pod = (name: string) => [...old, ...fresh].find((each) => each.name === name) ?? assert.fail(name);
const migrate = (node: string, ...args: readonly string[]) =>
  heddle(lab, node, 'migrate', 'flannel', '--store', STORE, '--name', node, ...args);

interface Shown {
  readonly pools: { readonly blocks: { readonly cidr: string; readonly node: string | null }[] }[];
  readonly handles: { readonly handle: string; readonly node: string; readonly addresses: string[] }[];
}

const shown = async (node: string) =>
  JSON.parse(await heddle(lab, node, 'ipam', 'show', '-o', 'json')) as Shown;

async function assertAllReachEachOther(): Promise<void> {
  const pods = [...old, ...fresh];
  for (const from of pods) {
    for (const { name, addresses } of pods) {
      // Its own address is on its loopback, which nobody has set up.
      if (name === from.name) continue;
      for (const address of addresses) {
        assert.ok(await reaches(lab, from, address), `${from.name} to ${name} at ${address}`);
      }
    }
  }
}

test('all pods reach each other under Flannel, and go on sending', async () => {
  await assertAllReachEachOther();
  for (const [from, to] of [
    ['old1', 'old1b'],
    ['old1', 'old2'],
    ['old2', 'old1'],
    ['old1', 'old3'],
    ['old3', 'old2'],
  ] as const) {
    for (const address of pod(to).addresses) streams.push(await stream(lab, pod(from), address));
  }
});

test('a dry run says what would be done, and changes nothing', async () => {
  const state = async () =>
    (await must(lab, 'node1', 'ip', 'route')) +
    (await must(
      lab,
      'node1',
      'sh',
      '-c',
      'ls -R /etc/cni /etc/heddle /opt/cni /var/lib/cni /run/lab 2>&1 || true',
    ));
  const before = await state();
  const plan = JSON.parse(await migrate('node1', '--dry-run', '-o', 'json'));
  assert.equal(await state(), before);
  assert.equal(plan.dryRun, true);
  assert.deepEqual(plan.subnets, subnetsOf(1));
  assert.equal(plan.bridge, 'cni0');
  assert.deepEqual(plan.overlays, ['flannel.1', 'flannel-v6.1']);
  assert.deepEqual(plan.pods.map(({ address }: { address: string }) => address).sort(), [
    ...[...pod('old1').addresses, ...pod('old1b').addresses].sort(),
  ]);
  assert.deepEqual(
    plan.pools.map(({ cidr, blockSize }: { cidr: string; blockSize: number }) => [cidr, blockSize]),
    [
      ['10.244.0.0/16', 26],
      ['fd00:10:244::/48', 122],
    ],
  );
  assert.deepEqual(plan.blocks.slice(0, 4), [
    '10.244.1.0/26',
    '10.244.1.64/26',
    '10.244.1.128/26',
    '10.244.1.192/26',
  ]);
  assert.deepEqual([...plan.peers].sort(), [...subnetsOf(2), ...subnetsOf(3)].sort());
  assert.match(await migrate('node1', '--dry-run'), /stays +bridge cni0/);
});

for (const node of NODES.slice(0, 2)) {
  test(`${node} is taken over: its pods keep what they have, new ones get others, all reach each other`, async () => {
    await migrate(node);
    const files = await must(lab, node, 'ls', '/etc/cni/net.d');
    assert.equal(files.trim(), '10-heddle.conflist');
    const { handles } = await shown(node);
    for (const { name, addresses } of old.filter((each) => each.node === node)) {
      const holder = handles.find((each) => each.addresses.includes(addresses[0] ?? ''));
      assert.match(holder?.handle ?? '', /^cbr0\/.+\/eth0$/, name);
      assert.deepEqual(holder?.addresses.toSorted(), addresses.toSorted());
    }
    for (const suffix of ['a', 'b', 'c'])
      fresh.push(await addPod(lab, node, 'heddle', `new${node.at(-1)}${suffix}`));
    const all = [...old, ...fresh].flatMap(({ addresses }) => addresses);
    assert.equal(new Set(all).size, all.length, all.join(' '));
    const [four = ''] = subnetsOf(Number(node.at(-1)));
    assert.ok(fresh.at(-1)?.addresses.some((address) => address.startsWith(four.slice(0, -4))));
    await assertAllReachEachOther();
    // Once more, it does nothing else.
    await migrate(node);
    await assertAllReachEachOther();
  });
}

test('nobody has lost a packet', async () => {
  const ended = await Promise.all(
    streams.splice(0).map(async ({ what, end }) => ({ what, ...(await end()) })),
  );
  assert.ok(ended.every(({ sent }) => sent > 20));
  // The last one may have been under way.
  const lossy = ended.filter(({ sent, answered }) => answered < sent - 1);
  assert.deepEqual(lossy, []);
});

test('what is left of Flannel stays while it is used', async () => {
  const { status, stderr } = await lab.ask('run', {
    ...{ on: 'node1', command: [...heddleProgram(), 'migrate', 'flannel', '--finish'] },
  });
  assert.equal(status, 3);
  assert.match(stderr, /nothing was changed: pods of the former network are there: eth0 of /);
});

test('a subnet that another node has is refused, and nothing is changed', async () => {
  const env = await must(lab, 'node3', 'cat', '/run/flannel/subnet.env');
  await must(lab, 'node3', 'sed', '-i', 's/10\\.244\\.3\\.1/10.244.2.1/', '/run/flannel/subnet.env');
  const { status, stderr } = await lab.ask('run', {
    on: 'node3',
    command: [...heddleProgram(), 'migrate', 'flannel', '--store', STORE, '--name', 'node3'],
  });
  assert.equal(status, 3, stderr);
  assert.match(stderr, /nothing was changed: block 10\.244\.2\.0\/26 belongs to node node2/);
  assert.equal((await must(lab, 'node3', 'ls', '/etc/cni/net.d')).trim(), '10-flannel.conflist');
  await must(lab, 'node3', 'sh', '-c', `printf '%s' '${env}' > /run/flannel/subnet.env`);
});

test('an old pod is taken down by either network, and its addresses are given back', async () => {
  const isHeld = async (name: string) => {
    const { handles } = await shown('node1');
    const [first = ''] = pod(name).addresses;
    return handles.some(({ addresses }) => addresses.includes(first));
  };
  const gone = async (name: string) =>
    await until(`${name} to be given back`, async () => ((await isHeld(name)) ? undefined : true), 60);
  await heddle(lab, 'node1', 'del', 'cbr0', 'old1');
  await gone('old1');
  // As a runtime does that knows the present network only, and has no result of it.
  const [, id = ''] =
    /cbr0\/([^/]+)\/eth0/.exec(
      (await shown('node1')).handles.find(({ addresses }) =>
        addresses.includes(pod('old1b').addresses[0] ?? ''),
      )?.handle ?? '',
    ) ?? [];
  const config = JSON.stringify({ cniVersion: '1.0.0', name: 'heddle', type: 'heddle' });
  const call = `CNI_COMMAND=DEL CNI_CONTAINERID=${id} CNI_IFNAME=eth0 CNI_NETNS=/run/netns/old1b CNI_PATH=/opt/cni/bin /opt/cni/bin/heddle`;
  await must(lab, 'node1', 'sh', '-ec', `echo '${config}' | ${call}`);
  await gone('old1b');
  assert.equal(
    await must(lab, 'node1', 'sh', '-c', 'ls /var/lib/cni/networks/cbr0 | grep -v -e lock -e last || true'),
    '',
  );
  assert.doesNotMatch(await must(lab, 'node1', 'sh', '-c', 'ls /var/lib/cni/results'), /^cbr0/m);
  assert.equal(await must(lab, 'node1', 'ip', 'route', 'show', 'dev', 'cni0', 'proto', '72'), '');
});

test('with the last node, Flannel’s devices go and nodes take blocks as they need them', async () => {
  await migrate('node3');
  const { status, stderr } = await lab.ask('run', {
    on: 'node3',
    command: [...heddleProgram(), 'migrate', 'flannel', '--finish'],
  });
  assert.equal(status, 3, stderr);
  for (const name of ['old2', 'old3']) await heddle(lab, pod(name).node, 'del', 'cbr0', name);
  old.splice(0);
  fresh.push(await addPod(lab, 'node3', 'heddle', 'new3a'));
  for (const node of NODES) {
    const { removed, last } = JSON.parse(
      await heddle(lab, node, 'migrate', 'flannel', '--finish', '-o', 'json'),
    );
    assert.deepEqual(removed.sort(), ['cni0', 'flannel-v6.1', 'flannel.1']);
    assert.equal(last, node === 'node3');
    const links = await must(lab, node, 'ip', '-o', 'link');
    assert.doesNotMatch(links, /flannel|cni0/);
  }
  await assertAllReachEachOther();
  const { handles } = await shown('node1');
  assert.deepEqual(
    handles.filter(({ handle }) => handle.startsWith('former') || handle.startsWith('cbr0')),
    [],
  );
  fresh.push(await addPod(lab, 'node3', 'heddle', 'new3b'));
  await assertAllReachEachOther();
});

/** The verbs of the plugin `heddle` on a node: drift is found, everything is taken down, and a failed ADD leaves nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyRequest } from '@heddle/plugins/testing';
import { TestNode } from './test-node.ts';

const config = { type: 'heddle' };

/** A node on which one pod has come and gone: what is shared is there. */
async function warmNode(): Promise<{ node: TestNode; clean: string }> {
  const node = await TestNode.joined();
  const container = node.lab.container('warm-up');
  await node.lab.add({ config, container });
  await node.lab.del({ config, container });
  const blackholes = () => node.lab.host.run('ip -4 route show type blackhole') !== '';
  while (!blackholes()) await new Promise((resolve) => setTimeout(resolve, 10));
  return { node, clean: node.lab.hostState() };
}

const holds = async (node: TestNode) => (await node.node.addresses.list('net1')).length;

test('CHECK finds what was changed at either end, and says what', async () => {
  const { node: made } = await warmNode();
  await using node = made;
  const { lab } = node;
  const container = lab.container('pod');
  const prevResult = await lab.add({ config, container });
  const [host = '', four = '', six = ''] = [
    prevResult.interfaces?.[0]?.name,
    ...(prevResult.ips ?? []).map(({ address }) => address),
  ];
  const drifts: readonly [command: string, inside: boolean, back: string, text: RegExp][] = [
    [
      `ip route del ${four} dev ${host}`,
      false,
      `ip route add ${four} dev ${host} scope link proto 72`,
      /route to 10\.244/,
    ],
    [
      `ip -6 route del ${six} dev ${host}`,
      false,
      `ip -6 route add ${six} dev ${host} proto 72`,
      /route to fd00/,
    ],
    [
      `ip address del fe80::1/64 dev ${host}`,
      false,
      `ip address add fe80::1/64 dev ${host} nodad`,
      /fe80::1\/64 is missing/,
    ],
    ['ip neigh del 169.254.1.1 dev eth0', true, '', /the neighbour 169\.254\.1\.1 is missing/],
  ];
  for (const [command, inside, back, text] of drifts) {
    await lab.check({ config, container, prevResult });
    (inside ? container : lab.host).run(command);
    await assert.rejects(lab.check({ config, container, prevResult }), { cniCode: 150, msg: text }, command);
    if (back !== '') lab.host.run(back);
  }
  await node.node.addresses.give({ network: 'net1', containerID: 'pod', ifName: 'eth0' });
  await assert.rejects(lab.check({ config, container, prevResult }), {
    msg: /holds no address of the cluster/,
  });
});

test('DEL takes everything down, three times, with and without the namespace', async () => {
  const { node: made, clean } = await warmNode();
  await using node = made;
  const { lab } = node;
  for (const netns of [undefined, '', '/run/netns/gone']) {
    const container = lab.container(`pod${netns?.length ?? ''}`);
    await lab.add({ config, container });
    for (let time = 0; time < 3; time++) {
      await lab.del({ config, container, ...(netns !== undefined && { netns }) });
      assert.equal(await holds(node), 0);
    }
    assert.equal(lab.hostState(), clean);
    assert.equal(await container.session.links.find('eth0'), undefined);
  }
});

test('a second ADD of a pod is refused, and takes nothing from the first', async () => {
  const { node: made } = await warmNode();
  await using node = made;
  const container = node.lab.container('pod');
  const prevResult = await node.lab.add({ config, container });
  await assert.rejects(node.lab.add({ config, container }), { cniCode: 141 });
  await node.lab.check({ config, container, prevResult });
});

test('an ADD that fails at any request to the kernel leaves nothing, and holds no address', async () => {
  const { node: made, clean } = await warmNode();
  await using node = made;
  const { lab } = node;
  const steps: string[] = [];
  for (const sabotage of everyRequest()) {
    const container = lab.container();
    const { exitCode, stdout, stderr } = await lab.run({
      ...{ command: 'ADD', config, container },
      wrap: sabotage.wrap,
    });
    const what = `${sabotage}: ${stdout}${stderr}`;
    if (sabotage.failed !== undefined) steps.push(sabotage.failed);
    else assert.equal(exitCode, 0, what);
    // Some settings are good to have only.
    if (exitCode === 0) await lab.del({ config, container });
    assert.equal(await holds(node), 0, what);
    assert.equal(lab.hostState(), clean, what);
  }
  assert.ok(steps.length >= 8, `failed only at ${steps.join(', ')}`);
});

test('GC frees what is not valid, and nothing else', async () => {
  const { node: made } = await warmNode();
  await using node = made;
  const { lab } = node;
  const [kept, stale] = [lab.container('kept'), lab.container('stale')];
  const prevResult = await lab.add({ config, container: kept });
  await lab.add({ config, container: stale });
  await lab.gc(config, [{ containerID: 'kept', ifname: 'eth0' }]);
  await lab.check({ config, container: kept, prevResult });
  assert.deepEqual(
    (await node.node.addresses.list('net1')).map(({ containerID }) => containerID),
    ['kept'],
  );
  assert.equal(
    (await lab.host.session.links.list({ kind: 'veth' })).length,
    3,
    'the underlay, its other end, and one pod',
  );
});

test('requested addresses, families and pools are given, or refused in words', async () => {
  await using node = await TestNode.joined();
  const { lab } = node;
  const one = await lab.add({
    config: { ...config, families: [4] },
    container: lab.container(),
    args: 'IP=10.244.9.9',
  });
  assert.deepEqual(
    one.ips?.map(({ address }) => address),
    ['10.244.9.9/32'],
  );
  const two = await lab.add({
    config: { ...config, pools: ['six'], runtimeConfig: { ips: ['fd00:10:244::99/64'] } },
    container: lab.container(),
  });
  assert.deepEqual(
    two.ips?.map(({ address }) => address),
    ['fd00:10:244::99/128'],
  );
  const taken = { config: { ...config, families: [4] }, container: lab.container(), args: 'IP=10.244.9.9' };
  await assert.rejects(lab.add(taken), { cniCode: 100, msg: /10\.244\.9\.9: it is held by net1\// });
  await assert.rejects(lab.add({ ...taken, args: 'IP=x' }), { cniCode: 4 });
  await assert.rejects(lab.add({ config: { ...config, pools: ['nowhere'] }, container: lab.container() }), {
    cniCode: 100,
    msg: /no pool is enabled for node n1 among nowhere/,
  });
});

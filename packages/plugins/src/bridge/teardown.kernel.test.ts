/** DEL takes everything down, whatever is missing; a failed ADD leaves nothing; GC takes the stale only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownerTag, tagKey } from '@heddle/cni/plugin';
import { addDespite, everyRequest, PluginLab, StubIpam } from '../testing/index.ts';
import { bridge } from './index.ts';

const config = {
  type: 'bridge',
  bridge: 'br0',
  isDefaultGateway: true,
  ipMasq: true,
  macspoofchk: true,
  ipam: { type: 'stub' },
};
const layer2 = { type: 'bridge', bridge: 'br0' };
const ips = [{ address: '10.1.2.2/24' }, { address: 'fd00::2/64' }];

/** A lab in which one attachment has come and gone: what is shared is there. */
async function warmLab(): Promise<{ lab: PluginLab; ipam: StubIpam; clean: string }> {
  const ipam = new StubIpam({ ips });
  const lab = new PluginLab([bridge, ipam.plugin]);
  const container = lab.container('warm-up');
  const prevResult = await lab.add({ config, container });
  await lab.del({ config, container, prevResult });
  return { lab, ipam, clean: lab.hostState() };
}

// Each bit says whether one piece is gone before DEL.
for (let pieces = 0; pieces < 8; pieces++) {
  const gone = ['namespace', 'host end', 'rules'].filter((_, bit) => (pieces & (1 << bit)) !== 0);
  test(`DEL three times, gone before: ${gone.join(', ') || 'nothing'}`, async () => {
    const { lab: made, ipam, clean } = await warmLab();
    using lab = made;
    const container = lab.container('pod');
    const { path } = container;
    const prevResult = await lab.add({ config, container });
    if (gone.includes('rules')) lab.host.run('nft', 'flush', 'ruleset');
    if (gone.includes('host end'))
      lab.host.run('ip', 'link', 'delete', prevResult.interfaces?.[1]?.name ?? '');
    if (gone.includes('namespace')) container[Symbol.dispose]();
    const netns = gone.includes('namespace') ? '/run/netns/gone' : path;
    for (let time = 0; time < 3; time++) {
      await lab.del({ config, container: { id: 'pod' }, netns, prevResult });
      assert.equal(ipam.held.size, 0);
    }
    if (gone.includes('rules')) lab.host.run('nft', 'flush', 'ruleset');
    else assert.equal(lab.hostState(), clean);
  });
}

test('DEL without a namespace finds the host end by its owner, without a previous result too', async () => {
  const { lab: made, ipam, clean } = await warmLab();
  using lab = made;
  const container = lab.container('pod');
  await lab.add({ config, container });
  await lab.del({ config, container: { id: 'pod' }, netns: '' });
  assert.equal(await container.session.links.find('eth0'), undefined);
  assert.equal(ipam.held.size, 0);
  assert.equal(lab.hostState(), clean);
});

test('DEL with a plain file where the namespace was', async () => {
  const { lab: made, ipam } = await warmLab();
  using lab = made;
  await lab.del({ config, container: { id: 'pod' }, netns: '/etc/hostname' });
  assert.equal(ipam.commands.at(-1), 'DEL');
});

test('DEL releases the address and takes the rest down although IPAM fails, and says that it failed', async () => {
  const { lab: made, ipam, clean } = await warmLab();
  using lab = made;
  const container = lab.container('pod');
  const prevResult = await lab.add({ config, container });
  ipam.failing.add('DEL');
  const deleted = lab.del({ config, container, prevResult });
  await assert.rejects(deleted, { msg: /stub: DEL fails as told/, cniCode: 100 });
  assert.equal(lab.hostState(), clean);
});

test('DEL of one interface leaves another of the same container', async () => {
  const ipam = new StubIpam({ ips });
  using lab = new PluginLab([bridge, ipam.plugin]);
  const container = lab.container();
  await lab.add({ config, container, ifName: 'net1' });
  await lab.add({ config: layer2, container, ifName: 'net2' });
  await lab.del({ config: layer2, container, ifName: 'net2' });
  assert.ok(await container.session.links.find('net1'));
  assert.deepEqual([...ipam.held], ['net1/c1/net1']);
});

test('an ADD that fails at any request to the kernel leaves nothing', async (t) => {
  const { lab: made, ipam, clean } = await warmLab();
  using lab = made;
  const steps: string[] = [];
  for (const sabotage of everyRequest()) {
    using container = lab.container('pod');
    const { what } = await addDespite(lab, { config, container }, sabotage);
    if (sabotage.failed !== undefined) steps.push(sabotage.failed);
    assert.equal(await container.session.links.find('eth0'), undefined, what);
    assert.equal(ipam.held.size, 0, what);
    assert.equal(lab.hostState(), clean, what);
  }
  const reached = steps.join(', ');
  t.diagnostic(`failed at each of: ${reached}`);
  for (const step of ['links.find', 'links.make', 'batch', 'nft.commit', 'together', 'links.set'])
    assert.ok(steps.includes(step), `${step} is not among ${reached}`);
});

test('DEL takes down what an ADD left that was killed at any request to the kernel; so does the next ADD', async () => {
  const { lab: made, ipam, clean } = await warmLab();
  using lab = made;
  let isInNewOne = false;
  for (const sabotage of everyRequest('dies')) {
    using container = lab.container('pod');
    const outcome = await sabotage.outcome(
      lab.run({ command: 'ADD', config, container, wrap: sabotage.wrap }),
    );
    const what = `${sabotage}: ${outcome?.stdout ?? ''}`;
    // The runtime gives up on the container, or tries again in a new one.
    isInNewOne = !isInNewOne;
    if (isInNewOne && sabotage.failed !== undefined) {
      using other = lab.container('pod');
      await lab.add({ config, container: other });
      await lab.del({ config, container: other });
      assert.equal(await container.session.links.find('eth0'), undefined, what);
    } else {
      await lab.del({ config, container });
    }
    assert.equal(ipam.held.size, 0, what);
    assert.equal(lab.hostState(), clean, what);
  }
});

test('an ADD whose IPAM fails, twenty times, leaves no port and no address', async () => {
  const { lab: made, ipam, clean } = await warmLab();
  using lab = made;
  ipam.failing.add('ADD');
  for (let time = 0; time < 20; time++) {
    const container = lab.container('pod');
    await assert.rejects(lab.add({ config, container }), { msg: /stub: ADD fails as told/ });
    assert.equal(await container.session.links.find('eth0'), undefined);
    container[Symbol.dispose]();
  }
  assert.equal(lab.hostState(), clean);
  assert.equal(ipam.held.size, 0);
});

test('GC takes what is stale: links, rules, addresses; nothing valid, nothing in flight, no other network', async () => {
  const ipam = new StubIpam(({ containerID }) => ({
    ips: [{ address: `10.1.2.${containerID.length}/24` }],
  }));
  using lab = new PluginLab([bridge, ipam.plugin]);
  const ids = { valid: 'aa', stale: 'aaa', adding: 'aaaa', other: 'aaaaa' };
  for (const [role, id] of Object.entries(ids)) {
    const name = role === 'other' ? 'net2' : 'net1';
    await lab.add({ config: { ...config, name }, container: lab.container(id) });
  }
  const mark = lab.inflight.begin(
    tagKey(ownerTag({ network: 'net1', containerID: ids.adding, ifName: 'eth0' })),
  );
  await lab.gc(config, [{ containerID: ids.valid, ifname: 'eth0' }]);
  mark[Symbol.dispose]();
  const owners = (await lab.host.session.links.list({ kind: 'veth' })).map(({ alias }) => alias);
  assert.equal(owners.length, 3);
  assert.ok(!owners.some((alias) => alias?.includes(`"${ids.stale}"`)));
  const rules = lab.host.run('nft', 'list', 'ruleset');
  assert.match(rules, /10\.1\.2\.2\b/);
  assert.doesNotMatch(rules, /10\.1\.2\.3\b/);
  assert.match(rules, /10\.1\.2\.4\b/);
  assert.match(rules, /10\.1\.2\.5\b/);
  assert.ok(!ipam.held.has(`net1/${ids.stale}/eth0`));
  assert.ok(ipam.held.has(`net1/${ids.valid}/eth0`));
});

test('GC goes on past an IPAM that fails', async () => {
  const ipam = new StubIpam({ ips });
  using lab = new PluginLab([bridge, ipam.plugin]);
  const container = lab.container();
  await lab.add({ config, container });
  ipam.failing.add('GC');
  await assert.rejects(lab.gc(config, []), { msg: /stub: GC fails as told/ });
  assert.deepEqual(await lab.host.session.links.list({ kind: 'veth' }), []);
});

test("STATUS is IPAM's, and fine without one", async () => {
  const ipam = new StubIpam();
  using lab = new PluginLab([bridge, ipam.plugin]);
  await lab.status(layer2);
  assert.deepEqual(ipam.commands, []);
  await lab.status(config);
  ipam.failing.add('STATUS');
  await assert.rejects(lab.status(config), { msg: /stub: STATUS fails as told/ });
});

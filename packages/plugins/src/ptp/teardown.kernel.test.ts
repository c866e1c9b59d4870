/** DEL takes everything down, whatever is missing; a failed ADD leaves nothing; GC takes the stale only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownerTag, tagKey } from '@heddle/cni/plugin';
import { addDespite, everyRequest, PluginLab, StubIpam } from '../testing/index.ts';
import { ptp } from './index.ts';

const config = { type: 'ptp', ipMasq: true, ipam: { type: 'stub' } };
const ips = [
  { address: '10.1.2.2/24', gateway: '10.1.2.1' },
  { address: 'fd00::2/64', gateway: 'fd00::1' },
];

/** A lab in which one attachment has come and gone: what is shared is there. */
async function warmLab(): Promise<{ lab: PluginLab; ipam: StubIpam; clean: string }> {
  const ipam = new StubIpam({ ips });
  const lab = new PluginLab([ptp, ipam.plugin]);
  const container = lab.container('warm-up');
  const prevResult = await lab.add({ config, container });
  await lab.del({ config, container, prevResult });
  return { lab, ipam, clean: lab.hostState() };
}

// Each bit says whether one piece is gone before DEL.
for (let pieces = 0; pieces < 8; pieces++) {
  const gone = ['namespace', 'host end', 'rules'].filter((_, bit) => (pieces & (1 << bit)) !== 0);
  test(`DEL three times, gone before: ${gone.join(', ') || 'nothing'} (containernetworking/cni#204)`, async () => {
    const { lab: made, ipam, clean } = await warmLab();
    using lab = made;
    const container = lab.container('pod');
    const { path } = container;
    const prevResult = await lab.add({ config, container });
    if (gone.includes('rules')) lab.host.run('nft', 'flush', 'ruleset');
    if (gone.includes('host end'))
      lab.host.run('ip', 'link', 'delete', prevResult.interfaces?.[0]?.name ?? '');
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

test('DEL without a namespace and a previous result, with a plain file there, of what was never added', async () => {
  const { lab: made, ipam, clean } = await warmLab();
  using lab = made;
  for (const netns of ['', '/run/netns/gone', '/etc/hostname']) {
    using container = lab.container('pod');
    await lab.add({ config, container });
    await lab.del({ config, container: { id: 'pod' }, netns });
    assert.equal(await container.session.links.find('eth0'), undefined);
    assert.equal(ipam.held.size, 0);
    assert.equal(lab.hostState(), clean);
    await lab.del({ config, container });
  }
});

test('DEL takes the rest down although IPAM fails, and says that it failed', async () => {
  const { lab: made, ipam, clean } = await warmLab();
  using lab = made;
  const container = lab.container('pod');
  const prevResult = await lab.add({ config, container });
  ipam.failing.add('DEL');
  await assert.rejects(lab.del({ config, container, prevResult }), { msg: /stub: DEL fails as told/ });
  assert.equal(lab.hostState(), clean);
});

test('an ADD that fails at any request to the kernel leaves nothing', async () => {
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
  for (const step of ['links.make', 'batch', 'routes.add', 'addresses.groups', 'nft.commit'])
    assert.ok(steps.includes(step), `${step} is not among ${steps.join(', ')}`);
});

test('DEL takes down what an ADD left that was killed at any request to the kernel', async () => {
  const { lab: made, ipam, clean } = await warmLab();
  using lab = made;
  for (const sabotage of everyRequest('dies')) {
    using container = lab.container('pod');
    await sabotage.outcome(lab.run({ command: 'ADD', config, container, wrap: sabotage.wrap }));
    await lab.del({ config, container });
    assert.equal(ipam.held.size, 0, `${sabotage}`);
    assert.equal(lab.hostState(), clean, `${sabotage}`);
  }
});

test('an ADD whose IPAM fails, twenty times, leaves no link and no address (containernetworking/plugins#29)', async () => {
  const { lab: made, ipam, clean } = await warmLab();
  using lab = made;
  ipam.failing.add('ADD');
  for (let time = 0; time < 20; time++) {
    using container = lab.container('pod');
    await assert.rejects(lab.add({ config, container }), { msg: /stub: ADD fails as told/ });
    assert.equal(await container.session.links.find('eth0'), undefined);
  }
  assert.equal(lab.hostState(), clean);
  assert.equal(ipam.held.size, 0);
});

test('GC takes what is stale: links, rules, addresses; nothing valid, nothing in flight, no other network', async () => {
  const ipam = new StubIpam(({ containerID }) => ({
    ips: [{ address: `10.1.2.${containerID.length}/24`, gateway: '10.1.2.1' }],
  }));
  using lab = new PluginLab([ptp, ipam.plugin]);
  const ids = { valid: 'aa', stale: 'aaa', adding: 'aaaa', other: 'aaaaa' };
  for (const [role, id] of Object.entries(ids)) {
    const name = role === 'other' ? 'net2' : 'net1';
    await lab.add({ config: { ...config, name }, container: lab.container(id) });
  }
  const tag = ownerTag({ network: 'net1', containerID: ids.adding, ifName: 'eth0' });
  const mark = lab.inflight.begin(tagKey(tag));
  await lab.gc(config, [{ containerID: ids.valid, ifname: 'eth0' }]);
  mark[Symbol.dispose]();
  const owners = (await lab.host.session.links.list({ kind: 'veth' })).map(({ alias }) => alias);
  assert.equal(owners.length, 3);
  assert.ok(!owners.some((alias) => alias?.includes(`"${ids.stale}"`)));
  const rules = lab.host.run('nft', 'list', 'ruleset');
  assert.doesNotMatch(rules, /10\.1\.2\.3\b/);
  for (const kept of [/10\.1\.2\.2\b/, /10\.1\.2\.4\b/, /10\.1\.2\.5\b/]) assert.match(rules, kept);
  assert.ok(!ipam.held.has(`net1/${ids.stale}/eth0`));
  assert.ok(ipam.held.has(`net1/${ids.valid}/eth0`));
});

test("STATUS is IPAM's", async () => {
  const ipam = new StubIpam();
  using lab = new PluginLab([ptp, ipam.plugin]);
  await lab.status(config);
  ipam.failing.add('STATUS');
  await assert.rejects(lab.status(config), { msg: /stub: STATUS fails as told/ });
});

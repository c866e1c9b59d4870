/** What ADD sets up and DEL takes down, on the real kernel. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Link, TC_H } from '@heddle/netlink';
import { Sabotage } from '../testing/index.ts';
import { ifbName, referenceIfbName } from './ifb.ts';
import { BandwidthScene, LIMITS } from './testing.ts';

const attachment = { network: 'cni-plugin-bandwidth-test', containerID: 'dummy', ifName: 'eth0' };

async function rootLimit(scene: BandwidthScene, link: string) {
  const qdiscs = await scene.lab.host.session.qdiscs.list({ link });
  return qdiscs.find(({ parent }) => parent === TC_H.ROOT)?.tbf;
}

describe('ADD', () => {
  test('limits both directions, and lists the ifb device', async () => {
    using scene = await BandwidthScene.create();
    const { lab } = scene;
    const result = await lab.add(scene.request());
    assert.equal(result.interfaces?.length, 3);
    const name = ifbName(attachment);
    const ifb: Link = await lab.host.session.links.get(name);
    assert.deepEqual(result.interfaces[2], { name, mac: `${ifb.mac}` });
    assert.deepEqual([ifb.mtu, ifb.up, ifb.txQueueLength], [1024, true, 0]);
    assert.match(ifb.alias ?? '', /^heddle:.*"id":"dummy","if":"eth0"/);
    const onIfb = await rootLimit(scene, name);
    assert.deepEqual([onIfb?.rate, onIfb?.limit], [2, 1]);
    const onVeth = await rootLimit(scene, 'hdv0');
    assert.deepEqual([onVeth?.rate, onVeth?.limit], [1, 1]);
    assert.match(
      scene.shaping('hdv0'),
      /qdisc ingress ffff:[\s\S]*mirred \(Egress Redirect to device bwp\w+\) stolen/,
    );
    await lab.check({ ...scene.request(), prevResult: result });
  });

  test('ingress only needs no ifb device', async () => {
    using scene = await BandwidthScene.create();
    const request = scene.request({ ingressRate: 8000, ingressBurst: 80 });
    const result = await scene.lab.add(request);
    assert.equal(result.interfaces?.length, 2);
    const onVeth = await rootLimit(scene, 'hdv0');
    assert.deepEqual([onVeth?.rate, onVeth?.limit], [1000, 35]);
    assert.deepEqual(await scene.ifbs(), []);
    await scene.lab.check({ ...request, prevResult: result });
  });

  test('egress only leaves the way to the container alone', async () => {
    using scene = await BandwidthScene.create();
    await scene.lab.add(scene.request({ egressRate: 8000, egressBurst: 80 }));
    assert.equal(await rootLimit(scene, 'hdv0'), undefined);
    const onIfb = await rootLimit(scene, ifbName(attachment));
    assert.deepEqual([onIfb?.rate, onIfb?.limit], [1000, 35]);
  });

  test('without limits the result passes through', async () => {
    using scene = await BandwidthScene.create();
    const before = lab(scene);
    for (const config of [{}, { ingressRate: 0, egressRate: 0, ingressBurst: 0, egressBurst: 0 }]) {
      const request = scene.request({ ...config, cniVersion: '1.1.0' });
      assert.deepEqual(await scene.lab.add(request), scene.prevResult('1.1.0'));
      await scene.lab.check(request);
    }
    assert.equal(lab(scene), before);
  });

  for (const cniVersion of ['0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0']) {
    test(`speaks ${cniVersion}`, async () => {
      using scene = await BandwidthScene.create();
      const request = scene.request({ cniVersion, ...LIMITS }, scene.prevResult(cniVersion));
      const { stdout } = await scene.lab.run({ ...request, command: 'ADD' });
      const result = JSON.parse(stdout);
      assert.equal(result.cniVersion, cniVersion);
      assert.equal(result.interfaces.length, 3);
      await scene.lab.del(request);
    });
  }

  test('is refused for 0.2.0, and out of a chain', async () => {
    using scene = await BandwidthScene.create();
    const old = scene.lab.add(scene.request({ cniVersion: '0.2.0' }));
    await assert.rejects(old, { cniCode: 1, msg: 'incompatible CNI versions' });
    const { prevResult: _, ...alone } = scene.request();
    await assert.rejects(scene.lab.add(alone), { cniCode: 7, msg: 'must be called as chained plugin' });
  });

  test('two interfaces of a container in one network get a device each', async () => {
    using scene = await BandwidthScene.create();
    const { lab: node, container } = scene;
    const peer = { name: 'net1', netns: container.handle };
    await node.host.session.links.add({ name: 'hdv1', kind: 'veth', up: true, peer });
    await node.add(scene.request());
    await node.add({ ...scene.request(), ifName: 'net1' });
    assert.equal((await scene.ifbs()).length, 2);
    await node.del(scene.request());
    assert.deepEqual(await scene.ifbs(), [ifbName({ ...attachment, ifName: 'net1' })]);
    await node.del({ ...scene.request(), ifName: 'net1' });
    assert.deepEqual(await scene.ifbs(), []);
  });

  test('a second ADD is refused, and leaves the first one alone', async () => {
    using scene = await BandwidthScene.create();
    const config = { egressRate: 8000, egressBurst: 80 };
    await scene.lab.add(scene.request(config));
    const before = scene.shaping('hdv0');
    await assert.rejects(scene.lab.add(scene.request(config)), /EEXIST/);
    assert.equal(scene.shaping('hdv0'), before);
    assert.equal((await scene.ifbs()).length, 1);
  });

  test('takes over what an ADD left that died', async () => {
    using scene = await BandwidthScene.create();
    const leftover = { name: ifbName(attachment), kind: 'ifb' } as const;
    await scene.lab.host.session.links.add(leftover);
    const result = await scene.lab.add(scene.request());
    await scene.lab.check({ ...scene.request(), prevResult: result });
  });

  test('leaves nothing when it fails, whichever step fails', async () => {
    using scene = await BandwidthScene.create();
    const before = lab(scene);
    for (let at = 1; ; at++) {
      const sabotage = new Sabotage(at);
      const { exitCode } = await scene.lab.run({
        ...scene.request(),
        command: 'ADD',
        wrap: (session) => sabotage.wrap(session),
      });
      if (sabotage.failed === undefined) break;
      assert.equal(exitCode, 1, sabotage.failed);
      assert.equal(lab(scene), before, `after ${sabotage.failed}`);
    }
  });

  test('warns of a burst that is less than a frame (kubernetes/kubernetes#90838)', async () => {
    using scene = await BandwidthScene.create();
    const request = scene.request({ ingressRate: 8_000_000, ingressBurst: 8 });
    const { stderr } = await scene.lab.run({ ...request, command: 'ADD' });
    assert.match(stderr, /a burst of 8 bits is less than a frame of hdv0, 8304 bits/);
  });

  test('sets a rate beyond 32 bits in full (cri-o/cri-o#4348)', async () => {
    using scene = await BandwidthScene.create();
    const config = { ingressRate: 40_000_000_000, ingressBurst: 34_359_738_352 };
    const prevResult = await scene.lab.add(scene.request(config));
    assert.match(scene.shaping('hdv0'), /rate 40Gbit burst 4294967280b|rate 40Gbit burst \d+/);
    assert.equal((await rootLimit(scene, 'hdv0'))?.rate, 5_000_000_000);
    await scene.lab.check({ ...scene.request(config), prevResult });
  });
});

describe("the host's end", () => {
  const limits = { egressRate: 1_000_000, egressBurst: 1_000_000 };

  for (const [what, change] of [
    ['a result without interfaces', { interfaces: undefined }],
    ['a result without the end', { interfaces: [{ name: 'elsewhere0' }] }],
    ['a sandbox that is none', { interfaces: [{ name: 'eth0', sandbox: 'eth0' }] }],
  ] as const) {
    test(`is found by the kernel, given ${what} (weaveworks/weave#3787)`, async () => {
      using scene = await BandwidthScene.create();
      const ips = [{ address: '192.0.2.2/24' }];
      const result = await scene.lab.add(scene.request(limits, { ...scene.prevResult(), ips, ...change }));
      assert.equal(result.interfaces?.at(-1)?.name, ifbName(attachment));
      assert.match(scene.shaping('hdv0'), /Redirect to device bwp/);
    });
  }

  test('is the right one of several', async () => {
    using scene = await BandwidthScene.create();
    const { host } = scene.lab;
    await host.session.links.add({ name: 'hdv9', kind: 'veth', up: true, peer: { name: 'hdv8' } });
    const interfaces = [{ name: 'hdv9' }, { name: 'hdv0' }, { name: 'eth0', sandbox: scene.container.path }];
    await scene.lab.add(scene.request(LIMITS, { ...scene.prevResult(), interfaces }));
    assert.match(scene.shaping('hdv0'), /tbf/);
    assert.doesNotMatch(scene.shaping('hdv9'), /tbf/);
  });

  test('there is none of a macvlan, which is said (weaveworks/weave#3787)', async () => {
    using scene = await BandwidthScene.create();
    const { container } = scene;
    container.run('ip', 'link', 'add', 'mac0', 'link', 'eth0', 'type', 'macvlan');
    await assert.rejects(scene.lab.add({ ...scene.request(), ifName: 'mac0' }), {
      cniCode: 140,
      msg: /container interface mac0 has no veth peer: it is a macvlan and has no host side to shape/,
    });
  });

  test('a veth whose peer is elsewhere has none', async () => {
    using scene = await BandwidthScene.create();
    const { container } = scene;
    container.run('ip', 'link', 'add', 'net1', 'type', 'veth', 'peer', 'name', 'net2');
    await assert.rejects(scene.lab.add({ ...scene.request(), ifName: 'net1' }), {
      message: /no veth peer of container interface net1 found in host ns.*prevResult lists hdv0/,
    });
    await assert.rejects(scene.lab.add({ ...scene.request(), ifName: 'net9' }), {
      msg: /net9 does not exist/,
    });
  });
});

describe('DEL', () => {
  test('leaves nothing, twice, and needs neither limits nor result', async () => {
    using scene = await BandwidthScene.create();
    const before = lab(scene);
    await scene.lab.add(scene.request());
    const bare = { ...scene.request({ ingressBurst: 3 }), prevResult: undefined };
    await scene.lab.del(bare);
    assert.equal(lab(scene), before);
    await scene.lab.del(bare);
  });

  test('leaves nothing of an ADD that was killed before it had a device', async () => {
    using scene = await BandwidthScene.create();
    const before = lab(scene);
    await scene.lab.host.session.qdiscs.add({ link: 'hdv0', kind: 'ingress' });
    await scene.lab.del(scene.request());
    assert.equal(lab(scene), before);
  });

  for (const netns of ['', '/run/netns/gone']) {
    test(`removes the ifb device without the namespace: ${JSON.stringify(netns)}`, async () => {
      using scene = await BandwidthScene.create();
      await scene.lab.add(scene.request());
      await scene.lab.del({ ...scene.request(), netns });
      assert.deepEqual(await scene.ifbs(), []);
    });
  }

  test("keeps a device of the reference's name that another interface uses", async () => {
    using scene = await BandwidthScene.create();
    const { links } = scene.lab.host.session;
    await scene.lab.add(scene.request());
    await links.add({ name: referenceIfbName(attachment), kind: 'ifb' });
    await scene.lab.del(scene.request());
    assert.deepEqual(await scene.ifbs(), [referenceIfbName(attachment)]);
  });
});

describe('GC', () => {
  test('deletes the ifb devices of attachments that are no more, and no others', async () => {
    using scene = await BandwidthScene.create();
    const { lab: node } = scene;
    const { config } = scene.request({ ...LIMITS, cniVersion: '1.1.0' });
    await node.add(scene.request());
    await node.host.session.links.add({ name: 'ifb0', kind: 'ifb' });
    await node.gc(config, [{ containerID: 'dummy', ifname: 'eth0' }]);
    assert.equal((await scene.ifbs()).length, 2);
    await node.gc({ ...config, name: 'another' }, []);
    assert.equal((await scene.ifbs()).length, 2);
    await node.gc(config, []);
    assert.deepEqual(await scene.ifbs(), ['ifb0']);
  });
});

test('STATUS: the kernel can shape, and the limits are possible', async () => {
  using scene = await BandwidthScene.create();
  const { config } = scene.request({ ...LIMITS, cniVersion: '1.1.0' });
  await scene.lab.status(config);
  await assert.rejects(scene.lab.status({ ...config, egressBurst: 0 }), { cniCode: 7 });
  assert.deepEqual(await scene.ifbs(), []);
});

/** All there is to see on the host. */
function lab(scene: BandwidthScene): string {
  return `${scene.lab.hostState()}${scene.shaping('hdv0')}`;
}

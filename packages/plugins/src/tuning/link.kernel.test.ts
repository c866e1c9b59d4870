/** The interface is changed, and changed back. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Mac } from '@heddle/netaddr';
import { hostDevice } from '../host-device/index.ts';
import { Sabotage } from '../testing/index.ts';
import { ORIGINAL_MAC, TuningScene } from './testing.ts';

const MAC = '00:00:5e:00:53:10';
const ALL = { mac: MAC, promisc: true, mtu: 1454, allmulti: true, txQLen: 20_000 } as const;

/** What each setting makes of the interface, and what the backup holds. */
const SETTINGS: readonly (readonly [config: object, backup: string])[] = [
  [{ promisc: true }, '{\n "promisc": false\n}'],
  [{ mtu: 1454 }, '{\n "mtu": 1500\n}'],
  [{ txQLen: 20_000 }, '{\n "txQLen": 1000\n}'],
  [{ txQLen: 0 }, '{\n "txQLen": 1000\n}'],
  [{ allmulti: true }, '{\n "allmulti": false\n}'],
  [{ allmulti: false }, '{\n "allmulti": false\n}'],
  [{ mac: MAC }, `{\n "mac": "${ORIGINAL_MAC}"\n}`],
  [
    ALL,
    `{\n "mac": "${ORIGINAL_MAC}",\n "promisc": false,\n "mtu": 1500,\n "allmulti": false,\n "txQLen": 1000\n}`,
  ],
];

describe('settings', () => {
  for (const [settings, backup] of SETTINGS) {
    for (const [where, config] of [
      ['the configuration', settings],
      ['args', { args: { cni: settings } }],
    ] as const) {
      test(`${JSON.stringify(settings)} of ${where}`, async () => {
        using scene = await TuningScene.create();
        const before = await scene.link();
        const request = scene.request(config);
        const result = await scene.lab.add(request);
        assert.deepEqual(await scene.link(), { ...before, ...settings });
        assert.equal(scene.backup(), backup);
        await scene.lab.check({ ...request, prevResult: result });
        await scene.lab.del({ ...request, prevResult: result });
        assert.deepEqual(await scene.link(), before);
        assert.equal(scene.backup(), undefined);
        await scene.lab.del(request);
      });
    }
  }

  for (const cniVersion of ['0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0']) {
    test(`the result has the new hardware address, in ${cniVersion}`, async () => {
      using scene = await TuningScene.create();
      const prevResult = scene.prevResult(cniVersion);
      const request = { ...scene.request({ cniVersion, runtimeConfig: { mac: MAC } }), prevResult };
      const { stdout } = await scene.lab.run({ ...request, command: 'ADD', args: 'MAC=02:00:00:00:00:99' });
      const { interfaces, ips } = JSON.parse(stdout);
      const [host, container] = prevResult.interfaces;
      assert.deepEqual(interfaces, [host, { ...container, mac: MAC }]);
      assert.deepEqual(ips, prevResult.ips);
    });
  }

  test('the result has the new MTU, if it has one', async () => {
    using scene = await TuningScene.create();
    const prevResult = {
      ...scene.prevResult('1.1.0'),
      interfaces: [
        { name: 'eth0', mtu: 1500 },
        { name: 'x', mtu: 9 },
      ],
    };
    const result = await scene.lab.add({ ...scene.request({ mtu: 1454, cniVersion: '1.1.0' }), prevResult });
    assert.deepEqual(result.interfaces, [
      { name: 'eth0', mtu: 1454 },
      { name: 'x', mtu: 9 },
    ]);
  });

  test('the hardware address of CNI_ARGS', async () => {
    using scene = await TuningScene.create();
    const request = { ...scene.request({}), args: `IgnoreUnknown=true;MAC=${MAC}` };
    await scene.lab.add(request);
    assert.equal((await scene.link()).mac, MAC);
    await scene.lab.del(request);
    assert.equal((await scene.link()).mac, ORIGINAL_MAC);
    await assert.rejects(scene.lab.add({ ...request, args: 'mac=x' }), { msg: /unknown args/ });
  });

  test('neighbours hear of a new hardware address', async () => {
    using scene = await TuningScene.create();
    const { lab, container } = scene;
    lab.host.run('ip', 'address', 'add', '10.0.0.1/24', 'dev', 'hdv0');
    container.run('ip', 'address', 'add', '10.0.0.2/24', 'dev', 'eth0');
    assert.equal(lab.host.pings('10.0.0.2'), true);
    await lab.add(scene.request({ mac: MAC }));
    assert.match(lab.host.run('ip', 'neighbour', 'show', '10.0.0.2'), new RegExp(MAC));
    assert.equal(await scene.sysctl('net/ipv4/conf/eth0/arp_notify'), '0');
  });

  for (const [config, said] of [
    [{ mac: 'nonsense' }, /invalid hardware address: nonsense/],
    [{ mtu: -1 }, /invalid mtu: -1/],
    [{ txQLen: -1 }, /invalid txQLen: -1/],
    [{ mtu: 1_000_000 }, /set mtu 1000000 of eth0: .*EINVAL/],
  ] as const) {
    test(`${JSON.stringify(config)} is refused, and leaves nothing`, async () => {
      using scene = await TuningScene.create();
      const before = await scene.link();
      await assert.rejects(scene.lab.add(scene.request({ promisc: true, ...config })), { msg: said });
      assert.deepEqual(await scene.link(), before);
      assert.equal(scene.backup(), undefined);
    });
  }

  test('an interface that only its bridge made promiscuous is not left so', async () => {
    using scene = await TuningScene.create();
    scene.container.run('ip link add br0 type bridge');
    scene.container.run('ip link set eth0 master br0');
    const before = await scene.container.session.links.get('eth0');
    const request = scene.request({ promisc: true });
    const result = await scene.lab.add(request);
    assert.equal(scene.backup(), '{\n "promisc": false\n}');
    await scene.lab.check({ ...request, prevResult: result });
    scene.container.run('ip link set eth0 promisc off');
    await assert.rejects(scene.lab.check({ ...request, prevResult: result }), { msg: /promisc of eth0/ });
    await scene.lab.del(request);
    const { promiscuity } = await scene.container.session.links.get('eth0');
    assert.deepEqual([promiscuity, before.promiscuity], [1, 1]);
  });

  for (const [kind, add, said] of [
    ['ifb', 'link add eth1 type ifb', /set mac .* of eth1: links of the kind ifb keep the hardware address/],
    ['tun', 'tuntap add eth1 mode tun', /set mac .* of eth1: links of the kind tun have no hardware address/],
  ] as const) {
    test(`a hardware address for a link of the kind ${kind} is refused in words, and nothing is left`, async () => {
      using scene = await TuningScene.create();
      scene.container.run(`ip ${add}`);
      const { links } = scene.container.session;
      const before = await links.get('eth1');
      const request = { ...scene.request({ promisc: true, mac: MAC }), ifName: 'eth1' };
      await assert.rejects(scene.lab.add(request), { msg: said });
      assert.deepEqual(await links.get('eth1'), before);
      assert.equal(scene.backup(), undefined);
    });
  }

  test('a failed ADD sets back what it can, when something cannot be set back', async () => {
    using scene = await TuningScene.create();
    const { links } = scene.container.session;
    const before = await links.get('lo');
    // The address of zeros that a loopback interface begins with can be given to none.
    const request = { ...scene.request({ mac: MAC, promisc: true, mtu: 4_000_000_000 }), ifName: 'lo' };
    const { stdout, stderr } = await scene.lab.run({ ...request, command: 'ADD' });
    assert.match(JSON.parse(stdout).msg, /set mtu 4000000000 of lo/);
    assert.match(stderr, /set mac 00:00:00:00:00:00 of lo: .*EADDRNOTAVAIL/);
    assert.deepEqual(await links.get('lo'), { ...before, mac: Mac.parse(MAC) });
  });

  test('a failed ADD leaves nothing, whichever step fails', async () => {
    using scene = await TuningScene.create();
    const before = await scene.link();
    const sysctl = { 'net.ipv4.conf.IFNAME.log_martians': '1' };
    for (let at = 1; ; at++) {
      const sabotage = new Sabotage(at);
      const wrap = sabotage.wrap.bind(sabotage);
      await scene.lab.run({ ...scene.request({ ...ALL, sysctl }), command: 'ADD', wrap });
      if (sabotage.failed === undefined) break;
      assert.deepEqual(await scene.link(), before, sabotage.failed);
      assert.equal(await scene.sysctl('net/ipv4/conf/eth0/log_martians'), '0');
      assert.equal(await scene.sysctl('net/ipv4/conf/eth0/arp_notify'), '0', sabotage.failed);
      assert.equal(scene.backup(), undefined);
    }
  });
});

describe('the backup', () => {
  test('is only for its owner', async () => {
    using scene = await TuningScene.create();
    await scene.lab.add(scene.request({ mtu: 1454 }));
    assert.equal(statSync(join(scene.dataDir, 'dummy_eth0.json')).mode & 0o777, 0o600);
  });

  test('knows the original after a second ADD too', async () => {
    using scene = await TuningScene.create();
    const before = await scene.link();
    await scene.lab.add(scene.request({ mtu: 1454 }));
    await scene.lab.add(scene.request({ mtu: 1300, txQLen: 7 }));
    assert.equal(scene.backup(), '{\n "mtu": 1500,\n "txQLen": 1000\n}');
    await scene.lab.del(scene.request({ mtu: 1300, txQLen: 7 }));
    assert.deepEqual(await scene.link(), before);
  });

  test('of an earlier ADD survives a second one that fails', async () => {
    using scene = await TuningScene.create();
    await scene.lab.add(scene.request({ mtu: 1454 }));
    await assert.rejects(scene.lab.add(scene.request({ mtu: 1_000_000 })));
    assert.equal(scene.backup(), '{\n "mtu": 1500\n}');
    assert.equal((await scene.link()).mtu, 1454);
  });

  test('may be gone: DEL warns and succeeds (containernetworking/plugins#493)', async () => {
    using scene = await TuningScene.create();
    const request = scene.request(ALL);
    await scene.lab.add(request);
    rmSync(join(scene.dataDir, 'dummy_eth0.json'));
    const { exitCode, stderr } = await scene.lab.run({ ...request, command: 'DEL' });
    assert.equal(exitCode, 0);
    assert.match(stderr, /eth0 stays as it is: there is no backup/);
  });

  test('may be nonsense', async () => {
    using scene = await TuningScene.create();
    scene.plant('backups/tuning/dummy_eth0.json', '{"mtu": "large"');
    const { exitCode, stderr } = await scene.lab.run({ ...scene.request(ALL), command: 'DEL' });
    assert.deepEqual([exitCode, scene.backup()], [0, undefined]);
    assert.match(stderr, /is no backup/);
  });

  test('that a killed ADD was writing goes with DEL', async () => {
    using scene = await TuningScene.create();
    scene.plant('backups/tuning/dummy_eth0.json.new', '{"mtu"');
    scene.plant('backups/tuning/heddle/test/dummy_eth0.json.new', '');
    await scene.lab.del(scene.request({}));
    assert.deepEqual(
      readdirSync(scene.dataDir, { recursive: true }).filter((name) => String(name).endsWith('.new')),
      [],
    );
  });

  test('is kept when something cannot be restored', async () => {
    using scene = await TuningScene.create();
    const text = '{\n "mtu": 99999999\n}';
    scene.plant('backups/tuning/dummy_eth0.json', text);
    const { exitCode, stderr } = await scene.lab.run({ ...scene.request({}), command: 'DEL' });
    assert.deepEqual([exitCode, scene.backup()], [0, text]);
    assert.match(stderr, /set mtu 99999999 of eth0/);
  });

  for (const netns of ['', '/run/netns/gone']) {
    test(`goes when the namespace has gone: ${JSON.stringify(netns)}`, async () => {
      using scene = await TuningScene.create();
      await scene.lab.add(scene.request(ALL));
      await scene.lab.del({ ...scene.request(ALL), netns });
      assert.equal(scene.backup(), undefined);
    });
  }

  test('goes when the interface has gone', async () => {
    using scene = await TuningScene.create();
    await scene.lab.add(scene.request(ALL));
    scene.container.run('ip', 'link', 'delete', 'eth0');
    await scene.lab.del(scene.request(ALL));
    assert.equal(scene.backup(), undefined);
  });

  test('two interfaces of a container have one each (containernetworking/plugins#493)', async () => {
    using scene = await TuningScene.create();
    scene.container.run('ip', 'link', 'add', 'net1', 'type', 'veth', 'peer', 'name', 'net2');
    const [eth0, net1] = [scene.request({ mtu: 1400 }), { ...scene.request({ mtu: 1300 }), ifName: 'net1' }];
    await scene.lab.add(eth0);
    await scene.lab.add(net1);
    await scene.lab.del(eth0);
    assert.equal((await scene.link()).mtu, 1500);
    const { links } = scene.container.session;
    assert.equal((await links.get('net1')).mtu, 1300);
    await scene.lab.del(net1);
    assert.equal((await links.get('net1')).mtu, 1500);
  });

  test('a device of the host is itself again when it comes back (containernetworking/plugins#493)', async () => {
    using scene = await TuningScene.create([hostDevice]);
    const { host } = scene.lab;
    const peer = { name: 'hdd1' };
    await host.session.links.add({
      name: 'hdd0',
      kind: 'veth',
      mac: Mac.parse(ORIGINAL_MAC),
      up: true,
      peer,
    });
    const device = { ...scene.request({}), config: { type: 'host-device', device: 'hdd0' }, ifName: 'net1' };
    const tuned = { ...scene.request({ mtu: 1400, mac: MAC, promisc: true }), ifName: 'net1' };
    const prevResult = await scene.lab.add({ ...device, prevResult: undefined });
    await scene.lab.add({ ...tuned, prevResult });
    assert.equal((await scene.container.session.links.get('net1')).mtu, 1400);
    await scene.lab.del(tuned);
    await scene.lab.del(device);
    const { mtu, mac, promiscuity } = await host.session.links.get('hdd0');
    assert.deepEqual([mtu, `${mac}`, promiscuity], [1500, ORIGINAL_MAC, 0]);
  });
});

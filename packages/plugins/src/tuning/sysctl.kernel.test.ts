/** Kernel parameters, and the verbs that look at everything. */
import assert from 'node:assert/strict';
import { existsSync, utimesSync } from 'node:fs';
import { describe, test } from 'node:test';
import { TuningScene } from './testing.ts';

const LOG_MARTIANS = { 'net.ipv4.conf.IFNAME.log_martians': '1' };

describe('kernel parameters', () => {
  for (const key of [
    ...[
      'net.ipv4.conf.all.log_martians',
      'net/ipv4/conf/all/log_martians',
      'net.ipv4.conf.IFNAME.log_martians',
    ],
    ...['net/ipv4/conf/IFNAME/log_martians', 'net.ipv6.conf.IFNAME.accept_ra'],
  ]) {
    test(`${key} is set, and the result is as it was`, async () => {
      using scene = await TuningScene.create();
      const request = scene.request({ sysctl: { [key]: '0' }, args: { cni: { sysctl: { [key]: '1' } } } });
      const result = await scene.lab.add(request);
      assert.deepEqual({ ...result, cniVersion: '1.0.0' }, scene.prevResult());
      assert.equal(await scene.sysctl(key.replace('IFNAME', 'eth0')), '1');
      await scene.lab.check({ ...request, prevResult: result });
      await scene.lab.del(request);
      assert.equal(scene.backup(), undefined);
    });
  }

  test('of an interface with a dot in its name (containernetworking/plugins#779)', async () => {
    using scene = await TuningScene.create();
    await scene.container.session.links.set('eth0', { up: false });
    await scene.container.session.links.set('eth0', { name: 'net1.100' });
    const request = { ...scene.request({ sysctl: LOG_MARTIANS }), ifName: 'net1.100' };
    await scene.lab.add(request);
    assert.equal(await scene.sysctl('net/ipv4/conf/net1.100/log_martians'), '1');
    await scene.lab.check(request);
  });

  test('that is written with other white space than the kernel has', async () => {
    using scene = await TuningScene.create();
    const request = scene.request({ sysctl: { 'net.ipv4.ping_group_range': '0 7' } });
    await scene.lab.add(request);
    await scene.lab.check(request);
  });

  test('DEL sets them back to what they were before the first ADD', async () => {
    using scene = await TuningScene.create();
    const before = await scene.sysctl('net/ipv4/conf/eth0/log_martians');
    for (const value of ['1', '0']) {
      await scene.lab.add(scene.request({ sysctl: { 'net.ipv4.conf.IFNAME.log_martians': value } }));
    }
    await scene.lab.add(scene.request({ sysctl: LOG_MARTIANS }));
    await scene.lab.del(scene.request({ sysctl: LOG_MARTIANS }));
    assert.equal(await scene.sysctl('net/ipv4/conf/eth0/log_martians'), before);
    assert.equal(existsSync(`${scene.dataDir}/heddle/test`), false);
  });

  test('GC removes at once what is written down of attachments that are not valid', async () => {
    using scene = await TuningScene.create();
    const { config } = scene.request({ cniVersion: '1.1.0', sysctl: LOG_MARTIANS, mtu: 1400 });
    await scene.lab.add(scene.request({ sysctl: LOG_MARTIANS, mtu: 1400 }));
    await scene.lab.gc(config, [{ containerID: 'dummy', ifname: 'eth0' }]);
    assert.notEqual(scene.backup(), undefined);
    await scene.lab.gc({ ...config, name: 'another' }, []);
    assert.notEqual(scene.backup(), undefined);
    await scene.lab.gc(config, []);
    assert.equal(scene.backup(), undefined);
    assert.equal(existsSync(`${scene.dataDir}/heddle/test`), false);
  });

  test('that can only be written', async () => {
    using scene = await TuningScene.create();
    const request = scene.request({ sysctl: { 'net.ipv4.route.flush': '1' } });
    await scene.lab.add(request);
    await scene.lab.check(request);
  });

  for (const [what, key, said] of [
    ['does not exist', 'net.ipv4.no_such_thing', /ENOENT/],
    ['is not of the network', 'kernel.hostname', /invalid net sysctl key/],
    ['leads out', 'net.ipv4.conf/../../kernel/hostname', /invalid net sysctl key/],
  ] as const) {
    test(`one that ${what} fails ADD, and nothing stays set`, async () => {
      using scene = await TuningScene.create();
      const request = scene.request({ sysctl: { ...LOG_MARTIANS, [key]: '1' } });
      await assert.rejects(scene.lab.add(request), { msg: said });
      assert.equal(await scene.sysctl('net/ipv4/conf/eth0/log_martians'), '0');
    });
  }

  for (const command of ['ADD', 'CHECK']) {
    test(`there twice are refused by ${command}`, async () => {
      using scene = await TuningScene.create();
      const twice = '"sysctl":{"net.core.somaxconn":"1","net.core.somaxconn":"1"}';
      const { exitCode, stdout } = await scene.runText(command, `{"cniVersion":"1.0.0","name":"n",${twice}}`);
      assert.equal(exitCode, 1);
      assert.match(JSON.parse(stdout).msg, /duplicated sysctl key "net\.core\.somaxconn"/);
    });
  }

  test('are set only if the list has them', async () => {
    using scene = await TuningScene.create();
    scene.plant('allowlist.conf', '^net\\.ipv4\\.conf\\.IFNAME\\.[a-z_]*$\n');
    await scene.lab.add(scene.request({ sysctl: LOG_MARTIANS }));
    const other = scene.request({ sysctl: { 'net.ipv4.conf.all.log_martians': '1' } });
    await assert.rejects(scene.lab.add(other), { msg: /net\.ipv4\.conf\.all\.log_martians is not allowed/ });
    await scene.lab.del(other);
  });
});

test('ADD and CHECK need a previous result, DEL does not', async () => {
  using scene = await TuningScene.create();
  const { prevResult: _, ...alone } = scene.request({ mtu: 1400 });
  await assert.rejects(scene.lab.add(alone), { cniCode: 7, msg: 'Required prevResult missing' });
  await assert.rejects(scene.lab.check(alone), { cniCode: 7, msg: 'Required prevResult missing' });
  await scene.lab.del(alone);
});

const DRIFTS: readonly (readonly [args: readonly string[], said: RegExp])[] = [
  [['address', '02:00:00:00:00:98'], /mac of eth0 should be 00:00:5e:00:53:10, but is 02:00:00:00:00:98/],
  [['mtu', '1300'], /mtu of eth0 should be 1400, but is 1300/],
  [['promisc', 'off'], /promisc of eth0 should be true, but is false/],
  [['allmulticast', 'on'], /allmulti of eth0 should be false, but is true/],
  [['txqueuelen', '5'], /txQLen of eth0 should be 9, but is 5/],
];

for (const [args, said] of DRIFTS) {
  test(`CHECK finds drift: ${args.join(' ')}`, async () => {
    using scene = await TuningScene.create();
    const request = scene.request({
      mac: '00:00:5E:00:53:10',
      mtu: 1400,
      promisc: true,
      allmulti: false,
      txQLen: 9,
    });
    await scene.lab.add(request);
    await scene.lab.check(request);
    scene.container.run('ip', 'link', 'set', 'eth0', ...args);
    await assert.rejects(scene.lab.check(request), { cniCode: 150, msg: said });
  });
}

test('CHECK finds drift: kernel parameters and the interface gone', async () => {
  using scene = await TuningScene.create();
  const request = scene.request({
    sysctl: { ...LOG_MARTIANS, 'net.ipv4.conf.all.log_martians': '1' },
    mtu: 1400,
  });
  await scene.lab.add(request);
  await scene.container.session.sysctl.write('net/ipv4/conf/eth0/log_martians', 0);
  await assert.rejects(scene.lab.check(request), {
    msg: 'net/ipv4/conf/eth0/log_martians should be 1, but is 0',
  });
  scene.container.run('ip', 'link', 'delete', 'eth0');
  await assert.rejects(scene.lab.check(request), {
    cniCode: 150,
    msg: 'net/ipv4/conf/eth0/log_martians does not exist; link eth0 is missing',
  });
});

test('CHECK lets a packet sniffer listen', async () => {
  using scene = await TuningScene.create();
  const request = scene.request({ promisc: false, mtu: 1400 });
  await scene.lab.add(request);
  scene.container.run('ip', 'link', 'set', 'eth0', 'promisc', 'on');
  await scene.lab.check(request);
});

test('GC removes the backups of containers that nobody knows any more, once they are old', async () => {
  using scene = await TuningScene.create();
  const { config } = scene.request({ cniVersion: '1.1.0' });
  const backups = ['valid_eth0', 'cached_net1', 'under_score_eth0', 'young_eth0', 'stale_eth0'];
  const paths = backups.map((name) => scene.plant(`backups/tuning/${name}.json`, '{}'));
  for (const path of paths) if (!path.includes('young')) utimesSync(path, 0, 0);
  const left = () => backups.filter((_, index) => existsSync(paths[index] ?? ''));
  const valid = [
    { containerID: 'valid', ifname: 'eth0' },
    { containerID: 'under_score', ifname: 'eth0' },
  ];
  await scene.lab.gc(config, valid);
  assert.deepEqual(left(), backups);
  scene.plant('cache/results/othernet-cached-eth0', '{}');
  await scene.lab.gc(config, valid);
  assert.deepEqual(left(), backups.slice(0, -1));
});

test('STATUS: the configuration is possible, and there is a place for backups', async () => {
  using scene = await TuningScene.create();
  const { config } = scene.request({ cniVersion: '1.1.0', sysctl: LOG_MARTIANS, mtu: 1400 });
  await scene.lab.status(config);
  await assert.rejects(scene.lab.status({ ...config, sysctl: { 'kernel.hostname': 'x' } }), { cniCode: 7 });
  const dataDir = `${scene.plant('file', '')}/tuning`;
  await assert.rejects(scene.lab.status({ ...config, dataDir }), { cniCode: 50 });
  scene.plant('allowlist.conf', 'nothing');
  await assert.rejects(scene.lab.status(config), { msg: /is not allowed/ });
});

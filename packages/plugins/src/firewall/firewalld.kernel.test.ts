/** The firewall with firewalld, over a message bus of the test's own; the reference is asked to do the same. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CNI_CODE, PluginError } from '@heddle/cni';
import { FakeFirewalld } from '@heddle/dataplane/testing';
import { ReferencePlugins } from '../testing/index.ts';
import { firewallOn } from './index.ts';
import { FirewallLab, rulesIn } from './testing.ts';

const REFERENCES = [
  ['packaged', ReferencePlugins.find(), ReferencePlugins.ABSENT],
  ['current', ReferencePlugins.findCurrent(), ReferencePlugins.ABSENT_CURRENT],
] as const;

describe('with firewalld', { skip: FakeFirewalld.ABSENT }, () => {
  for (const backend of ['', 'firewalld', 'whatever']) {
    test(`addresses are put into a zone, and taken out: backend ${JSON.stringify(backend)}`, async () => {
      using firewalld = await FakeFirewalld.start();
      using lab = new FirewallLab(firewallOn(firewalld.socket));
      const request = lab.request({ backend });
      await lab.add(request);
      await lab.check(request);
      await lab.del({ ...request, prevResult: undefined });
      assert.deepEqual(firewalld.calls, [
        ...['addSource trusted 10.1.2.5/32', 'addSource trusted fd01::5/128'],
        ...['querySource trusted 10.1.2.5/32', 'querySource trusted fd01::5/128'],
        ...['removeSource trusted 10.1.2.5/32', 'removeSource trusted fd01::5/128'],
      ]);
      assert.deepEqual(rulesIn(lab.host), []);
    });
  }

  test('a zone of the configuration is used', async () => {
    using firewalld = await FakeFirewalld.start();
    using lab = new FirewallLab(firewallOn(firewalld.socket));
    await lab.add(lab.request({ backend: '', firewalldZone: 'pods' }, { ips: ['10.1.2.5/24'] }));
    assert.deepEqual(firewalld.calls, ['addSource pods 10.1.2.5/32']);
  });

  test('a second ADD and a second DEL are fine', async () => {
    using firewalld = await FakeFirewalld.start();
    using lab = new FirewallLab(firewallOn(firewalld.socket));
    const request = lab.request({ backend: 'firewalld' });
    for (let round = 0; round < 2; round++) await lab.add(request);
    for (let round = 0; round < 2; round++) await lab.del(request);
    assert.deepEqual(rulesIn(lab.host), []);
  });

  test('an ADD that firewalld refuses takes back what it did', async () => {
    using firewalld = await FakeFirewalld.start();
    using lab = new FirewallLab(firewallOn(firewalld.socket));
    const request = lab.request({ backend: 'firewalld', firewalldZone: 'nowhere' });
    await assert.rejects(() => lab.add(request), /addSource: INVALID_ZONE/);
    assert.doesNotMatch(lab.host.run('nft list ruleset'), /c1/);
  });

  test('CHECK sees a source that is gone, which the reference does not', async () => {
    using firewalld = await FakeFirewalld.start();
    using lab = new FirewallLab(firewallOn(firewalld.socket));
    const request = lab.request({ backend: '' });
    await assert.rejects(
      () => lab.check(request),
      (error) =>
        error instanceof PluginError &&
        error.cniCode === CNI_CODE.DRIFT &&
        /missing source 10.1.2.5 of zone trusted; source fd01::5 of zone trusted/.test(error.message),
    );
  });

  test('GC takes out what is stale', async () => {
    using firewalld = await FakeFirewalld.start();
    using lab = new FirewallLab(firewallOn(firewalld.socket));
    await lab.add(lab.request({ backend: '' }));
    await lab.add(lab.request({ backend: '' }, { id: 'c2', ips: ['10.1.2.6/24'] }));
    const { config } = lab.request({ backend: '', cniVersion: '1.1.0' });
    await lab.gc(config, [{ containerID: 'c2', ifname: 'eth0' }]);
    const removed = firewalld.calls.filter((call) => call.startsWith('removeSource'));
    assert.deepEqual(removed, ['removeSource trusted 10.1.2.5/32', 'removeSource trusted fd01::5/128']);
  });

  test('bridges are kept apart by iptables', async () => {
    using firewalld = await FakeFirewalld.start();
    using lab = new FirewallLab(firewallOn(firewalld.socket));
    const request = lab.request({ backend: '', ingressPolicy: 'same-bridge' });
    await lab.add(request);
    await lab.check(request);
    assert.equal(rulesIn(lab.host).length, 5);
    assert.doesNotMatch(rulesIn(lab.host).join(), /CNI-FORWARD/);
  });

  test('STATUS knows whether it runs', async () => {
    using firewalld = await FakeFirewalld.start();
    using lab = new FirewallLab(firewallOn(firewalld.socket));
    const { config } = lab.request({ backend: 'firewalld', cniVersion: '1.1.0' });
    await lab.status(config);
    await firewalld.stop();
    await assert.rejects(() => lab.status(config), /firewalld does not run/);
  });

  for (const [release, found, absent] of REFERENCES) {
    test(`the ${release} reference asks the same`, { skip: found === undefined && absent }, async () => {
      const asked: (readonly string[])[] = [];
      for (const isOurs of [false, true]) {
        using firewalld = await FakeFirewalld.start();
        using lab = new FirewallLab(firewallOn(firewalld.socket));
        const env = { DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${firewalld.socket}` };
        for (const command of ['ADD', 'CHECK', 'DEL'] as const) {
          const call = { ...lab.request({ backend: '' }), command };
          if (isOurs) assert.equal((await lab.run(call)).exitCode, 0);
          else found?.run(lab.host, call, env);
        }
        asked.push(firewalld.calls);
        assert.deepEqual(rulesIn(lab.host), []);
      }
      assert.deepEqual(asked[1], asked[0]);
      assert.equal(asked[0]?.length, 6);
    });
  }
});

describe('without firewalld', { skip: FakeFirewalld.ABSENT }, () => {
  test('iptables is chosen, with a message bus or without', async () => {
    using bus = await FakeFirewalld.start({ withFirewalld: false });
    for (const socket of [bus.socket, '/nowhere/bus']) {
      using lab = new FirewallLab(firewallOn(socket));
      const request = lab.request({ backend: '' });
      await lab.add(request);
      assert.equal(rulesIn(lab.host).length, 4);
      await lab.del(request);
      assert.equal(rulesIn(lab.host).length, 2);
    }
  });

  test('an ADD that asks for firewalld fails and leaves nothing, and a DEL succeeds', async () => {
    using bus = await FakeFirewalld.start({ withFirewalld: false });
    using lab = new FirewallLab(firewallOn(bus.socket));
    const request = lab.request({ backend: 'firewalld' });
    await assert.rejects(
      () => lab.add(request),
      (error) => error instanceof PluginError && error.cniCode === CNI_CODE.TRY_AGAIN,
    );
    assert.doesNotMatch(lab.host.run('nft list ruleset'), /c1/);
    await lab.del(request);
  });
});

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { CNI_VERSIONS } from '@heddle/cni';
import { HostLocalLab } from './testing.ts';

let lab: HostLocalLab;
beforeEach(() => {
  lab = new HostLocalLab();
});
afterEach(() => lab[Symbol.dispose]());

describe('ADD and DEL in every version', () => {
  for (const version of CNI_VERSIONS) {
    test(version, async () => {
      const resolvConf = join(lab.root, 'resolv.conf');
      writeFileSync(resolvConf, 'nameserver 192.0.2.3');
      const routes = [
        { dst: '0.0.0.0/0' },
        { dst: '::/0' },
        { dst: '192.168.0.0/16', gw: '1.1.1.1' },
        { dst: '2001:db8:2::0/64', gw: '2001:db8:3::1' },
      ];
      const ranges = [
        [{ subnet: '10.1.2.0/24' }, { subnet: '10.2.2.0/24' }],
        [{ subnet: '2001:db8:1::0/64' }],
      ];
      const conf = lab.config({ resolvConf, ranges, routes }, {}, version);

      const { result, stderr } = await lab.ok({ command: 'ADD', config: conf });
      assert.deepEqual(result, resultIn(version));
      assert.equal(stderr, '');
      assert.equal(lab.read('10.1.2.2'), 'dummy\r\neth0');
      assert.equal(lab.read('2001:db8:1::2'), 'dummy\r\neth0');
      assert.equal(lab.read('last_reserved_ip.0'), '10.1.2.2');
      assert.equal(lab.read('last_reserved_ip.1'), '2001:db8:1::2');

      for (let i = 0; i < 3; i++) {
        const { result: nothing, stderr: silence } = await lab.ok({ command: 'DEL', config: conf });
        assert.deepEqual([nothing, silence], [{}, '']);
      }
      assert.deepEqual(lab.files(), ['last_reserved_ip.0', 'last_reserved_ip.1', 'lock']);
      assert.deepEqual((await lab.ok({ command: 'ADD', config: conf })).result, resultIn(version, 3));
    });
  }

  function resultIn(version: string, host = 2): object {
    const v4 = { address: `10.1.2.${host}/24`, gateway: '10.1.2.1' };
    const v6 = { address: `2001:db8:1::${host}/64`, gateway: '2001:db8:1::1' };
    const routes4 = [{ dst: '0.0.0.0/0' }, { dst: '192.168.0.0/16', gw: '1.1.1.1' }];
    const routes6 = [{ dst: '::/0' }, { dst: '2001:db8:2::/64', gw: '2001:db8:3::1' }];
    const dns = { nameservers: ['192.0.2.3'] };
    if (version < '0.3.0') {
      return {
        cniVersion: version,
        ip4: { ip: v4.address, gateway: v4.gateway, routes: routes4 },
        ip6: { ip: v6.address, gateway: v6.gateway, routes: routes6 },
        dns,
      };
    }
    const [d4, n4] = routes4;
    const [d6, n6] = routes6;
    const ips =
      version < '1.0.0'
        ? [
            { version: '4', ...v4 },
            { version: '6', ...v6 },
          ]
        : [v4, v6];
    return { cniVersion: version, ips, routes: [d4, d6, n4, n6], dns };
  }
});

describe('owners', () => {
  const conf = () => lab.config({ subnet: '10.1.2.0/24' });

  test('DEL gives back the address of its own interface only', async () => {
    await lab.ok({ command: 'ADD', config: conf(), ifName: 'eth0' });
    await lab.ok({ command: 'ADD', config: conf(), ifName: 'eth1' });
    assert.deepEqual(lab.reservations(), ['10.1.2.2', '10.1.2.3']);
    await lab.ok({ command: 'DEL', config: conf(), ifName: 'eth0' });
    assert.deepEqual(lab.reservations(), ['10.1.2.3']);
    assert.equal(lab.read('10.1.2.3'), 'dummy\r\neth1');
  });

  test('a second ADD of the same interface fails, names the address, and holds nothing more', async () => {
    await lab.ok({ command: 'ADD', config: conf() });
    const again = await lab.refused({ command: 'ADD', config: conf() });
    assert.equal(
      again.msg,
      'failed to allocate for range 0: 10.1.2.2 has been allocated to dummy, duplicate allocation is not allowed',
    );
    assert.deepEqual((await lab.ok({ command: 'ADD', config: conf(), containerID: 'dummy1' })).addresses, [
      '10.1.2.3/24',
    ]);
    await lab.refused({ command: 'ADD', config: conf() });
    assert.deepEqual(lab.reservations(), ['10.1.2.2', '10.1.2.3']);
    assert.deepEqual((await lab.ok({ command: 'ADD', config: conf(), ifName: 'eth1' })).addresses, [
      '10.1.2.4/24',
    ]);
    await lab.ok({ command: 'DEL', config: conf() });
    assert.deepEqual((await lab.ok({ command: 'ADD', config: conf() })).addresses, ['10.1.2.5/24']);
  });

  test('the duplicate is found in each range set, and a refusal leaves none', async () => {
    const v4 = [{ subnet: '10.1.2.0/24' }];
    const v6 = [{ subnet: '2001:db8::/64' }];
    await lab.ok({ command: 'ADD', config: lab.config({ ranges: [v6] }) });
    const { msg } = await lab.refused({ command: 'ADD', config: lab.config({ ranges: [v4, v6] }) });
    assert.match(msg, /^failed to allocate for range 1: 2001:db8::2 has been allocated to dummy/);
    assert.deepEqual(lab.reservations(), ['2001:db8::2']);
  });

  test('reservations in the oldest format are released by container', async () => {
    lab.plant('10.1.2.9', 'dummy');
    await lab.ok({ command: 'DEL', config: conf() });
    assert.deepEqual(lab.reservations(), []);
  });

  test('white space around what is in a file does not matter', async () => {
    lab.plant('10.1.2.9', '  dummy\r\neth0 \n');
    await lab.ok({ command: 'CHECK', config: conf() });
    await lab.ok({ command: 'DEL', config: conf() });
    assert.deepEqual(lab.reservations(), []);
  });

  test('DEL of an unknown container, or without any files, succeeds', async () => {
    await lab.ok({ command: 'DEL', config: conf(), containerID: 'unknown' });
    await lab.ok({ command: 'ADD', config: conf() });
    await lab.ok({ command: 'DEL', config: conf(), containerID: 'unknown' });
    assert.deepEqual(lab.reservations(), ['10.1.2.2']);
  });

  test('DEL needs no valid ranges', async () => {
    await lab.ok({ command: 'ADD', config: conf() });
    await lab.ok({
      command: 'DEL',
      config: lab.config({ subnet: '10.1.2.7/24', resolvConf: '/nonexistent' }),
    });
    assert.deepEqual(lab.reservations(), []);
  });
});

describe('what cannot be written', () => {
  test('fails with what, where and why', async () => {
    mkdirSync(lab.dataDir);
    writeFileSync(lab.directory, 'a file where the directory should be');
    const { code, msg } = await lab.refused({
      command: 'ADD',
      config: lab.config({ subnet: '10.1.2.0/24' }),
    });
    assert.equal(code, 100);
    assert.match(msg, /^open the lock in .*mynet: EEXIST/);
  });

  test('fails at once where no directories can be made', async () => {
    const { code, msg } = await lab.refused({
      command: 'ADD',
      config: lab.config({ subnet: '10.1.2.0/24', dataDir: '/proc/heddle/networks' }),
    });
    assert.equal(code, 100);
    assert.match(msg, /^open the lock in \/proc\/heddle\/networks\/mynet: ENOENT/);
  });
});

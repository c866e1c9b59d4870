import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { HostLocalLab } from './testing.ts';

let lab: HostLocalLab;
beforeEach(() => {
  lab = new HostLocalLab();
});
afterEach(() => lab[Symbol.dispose]());

describe('requested addresses', () => {
  const one = [{ subnet: '10.1.2.0/24' }];
  const ask = (...ips: string[]) => ({ args: { cni: { ips } } });
  const rows: readonly [name: string, ipam: object, rest: object, args: string | undefined, ips: string[]][] =
    [
      ['through args', { ranges: [one] }, ask('10.1.2.88'), undefined, ['10.1.2.88/24']],
      ['through CNI_ARGS', { ranges: [one] }, {}, 'IgnoreUnknown=1;IP=10.1.2.88;X=y', ['10.1.2.88/24']],
      [
        'through the runtime',
        { ranges: [one] },
        { runtimeConfig: { ips: ['10.1.2.88/24'] } },
        undefined,
        ['10.1.2.88/24'],
      ],
      [
        'from two range sets',
        { ranges: [one, [{ subnet: '10.1.3.0/24' }]] },
        ask('10.1.2.88', '10.1.3.77'),
        undefined,
        ['10.1.2.88/24', '10.1.3.77/24'],
      ],
      [
        'of two families, in the order of the range sets',
        { ranges: [[{ subnet: '172.16.1.0/24' }], [{ subnet: '2001:db8:1::0/48' }]] },
        ask('2001:db8:1::999', '172.16.1.88'),
        undefined,
        ['172.16.1.88/24', '2001:db8:1::999/48'],
      ],
    ];
  for (const [name, ipam, rest, args, ips] of rows) {
    test(name, async () => {
      const request = { command: 'ADD', config: lab.config(ipam, rest), ...(args !== undefined && { args }) };
      assert.deepEqual((await lab.ok(request)).addresses, ips);
      await lab.ok({ command: 'DEL', config: lab.config(ipam) });
      assert.deepEqual(lab.reservations(), []);
    });
  }

  test('that cannot all be given fail, and nothing is held', async () => {
    const conf = lab.config({ ranges: [one, [{ subnet: '10.1.3.0/24' }]] }, ask('10.1.2.88', '10.1.2.77'));
    const { code, msg } = await lab.refused({ command: 'ADD', config: conf });
    assert.equal(code, 100);
    assert.match(msg, /^failed to allocate all requested IPs: 10\.1\.2\./);
    assert.deepEqual(lab.reservations(), []);
  });

  test('that someone holds are refused, and the holder is named', async () => {
    const conf = lab.config({ ranges: [one] }, ask('10.1.2.88'));
    await lab.ok({ command: 'ADD', config: conf });
    const { msg, details } = await lab.refused({ command: 'ADD', config: conf, containerID: 'c2' });
    assert.equal(
      msg,
      'failed to allocate for range 0: requested IP address 10.1.2.88 is not available in range set 10.1.2.1-10.1.2.254',
    );
    assert.equal(details, 'it is held by eth0 of dummy');
  });

  test('unknown CNI_ARGS are refused unless told to be ignored', async () => {
    assert.equal(
      (await lab.refused({ command: 'ADD', config: lab.config({ ranges: [one] }), args: 'X=y' })).code,
      4,
    );
    assert.equal(
      (await lab.refused({ command: 'ADD', config: lab.config({ ranges: [one] }), args: 'IP=bogus' })).code,
      4,
    );
  });
});

describe('small and odd subnets', () => {
  test('/31: one address is the gateway, the other is given, then it is full', async () => {
    const conf = lab.config({ subnet: '192.0.2.0/31' });
    const { result } = await lab.ok({ command: 'ADD', config: conf });
    assert.deepEqual(result['ips'], [{ address: '192.0.2.1/31', gateway: '192.0.2.0' }]);
    assert.equal((await lab.refused({ command: 'ADD', config: conf, containerID: 'c2' })).code, 11);
  });

  for (const [subnet, gateway] of [
    ['192.0.2.9/32', '198.51.100.1'],
    ['2001:db8::9/128', 'fe80::1'],
  ]) {
    test(`${subnet}: one address, a gateway only if one is configured`, async () => {
      const { result } = await lab.ok({ command: 'ADD', config: lab.config({ subnet }) });
      assert.deepEqual(result['ips'], [{ address: subnet }]);
      await lab.ok({ command: 'DEL', config: lab.config({ subnet }) });
      const second = await lab.ok({ command: 'ADD', config: lab.config({ subnet, gateway }) });
      assert.deepEqual(second.result['ips'], [{ address: subnet, gateway }]);
    });
  }

  for (const [subnet, gateway] of [
    ['2001:db8:5:333::/64', '2001:db8:5::1'],
    ['2001:db8:5:333::/64', 'fe80::1'],
    ['192.0.2.0/24', '198.51.100.1'],
  ]) {
    test(`the gateway ${gateway} outside of ${subnet} is accepted, and no address is lost to it`, async () => {
      const { result } = await lab.ok({ command: 'ADD', config: lab.config({ subnet, gateway }) });
      const first = subnet?.includes(':') ? '2001:db8:5:333::1/64' : '192.0.2.1/24';
      assert.deepEqual(result['ips'], [{ address: first, gateway }]);
    });
  }

  for (const ipam of [
    { subnet: '192.0.2.0/24', rangeStart: '192.0.2.255', rangeEnd: '192.0.2.255' },
    { subnet: '192.0.2.0/24', rangeStart: '192.0.2.0' },
    { subnet: '192.0.2.0/24', rangeStart: '192.0.2.255' },
    { subnet: '192.0.2.0/24', rangeStart: '192.0.2.20', rangeEnd: '192.0.2.10' },
  ]) {
    test(`refused: ${JSON.stringify(ipam)}`, async () => {
      const { code, msg } = await lab.refused({ command: 'ADD', config: lab.config(ipam) });
      assert.equal(code, 7);
      assert.match(msg, /^invalid range set 0: Range(Start|End) /);
    });
  }
});

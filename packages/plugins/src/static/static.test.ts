import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CNI_VERSIONS } from '@heddle/cni';
import { inProcess, type PluginCall, referenceBinary } from '../addressing/testing.ts';
import { staticPlugin } from './index.ts';

const call = inProcess(staticPlugin);

function config(ipam: object | undefined, rest: object = {}, cniVersion = '1.1.0') {
  return {
    cniVersion,
    name: 'mynet',
    type: 'ipvlan',
    ...(ipam && { ipam: { type: 'static', ...ipam } }),
    ...rest,
  };
}

async function ok(request: PluginCall): Promise<Record<string, unknown>> {
  const { exitCode, stdout, json } = await call(request);
  assert.equal(exitCode, 0, stdout);
  return (json ?? {}) as Record<string, unknown>;
}

async function refused(request: PluginCall): Promise<{ code: number; msg: string; details?: string }> {
  const { exitCode, json } = await call(request);
  assert.equal(exitCode, 1);
  return json as { code: number; msg: string };
}

const v4 = { address: '10.10.0.1/24', gateway: '10.10.0.254' };
const v6 = { address: '3ffe:ffff:0:01ff::1/64', gateway: '3ffe:ffff:0::1' };
const routes = [
  { dst: '0.0.0.0/0' },
  { dst: '192.168.0.0/16', gw: '10.10.5.1', priority: 100, mtu: 1400 },
  { dst: '192.168.0.0/16', gw: '10.10.5.2', priority: 100, mtu: 1400 },
  { dst: '3ffe:ffff:0:01ff::1/64' },
];
const dns = { nameservers: ['8.8.8.8'], domain: 'example.com', search: ['example.com'], options: ['rotate'] };

describe('addresses of the configuration, in every version', () => {
  for (const version of CNI_VERSIONS) {
    test(version, async () => {
      const conf = config({ addresses: [v4, v6], routes, dns }, {}, version);
      const result = await ok({ command: 'ADD', config: conf });
      const given = [
        { address: '10.10.0.1/24', gateway: '10.10.0.254' },
        { address: '3ffe:ffff:0:1ff::1/64', gateway: '3ffe:ffff::1' },
      ];
      if (version < '0.3.0') {
        assert.deepEqual(result['ip4'], {
          ip: v4.address,
          gateway: v4.gateway,
          routes: routes.slice(0, 3).map(({ dst, gw }) => (gw === undefined ? { dst } : { dst, gw })),
        });
        assert.deepEqual(result['ip6'], {
          ip: '3ffe:ffff:0:1ff::1/64',
          gateway: '3ffe:ffff::1',
          routes: [{ dst: '3ffe:ffff:0:1ff::1/64' }],
        });
      } else {
        const versions = ['4', '6'];
        const ips = version < '1.0.0' ? given.map((ip, at) => ({ version: versions[at], ...ip })) : given;
        assert.deepEqual(result['ips'], ips);
        assert.deepEqual(result['routes'], [...routes.slice(0, 3), { dst: '3ffe:ffff:0:1ff::1/64' }]);
      }
      assert.deepEqual(result['dns'], dns);
      assert.deepEqual(await ok({ command: 'DEL', config: conf }), {});
    });
  }

  test('none is no error here, unless the result has no form without', async () => {
    const { code, msg } = await refused({ command: 'ADD', config: config({}, {}, '0.2.0') });
    assert.deepEqual([code, msg], [7, 'cannot convert: no valid IP addresses']);
    assert.deepEqual(await ok({ command: 'ADD', config: config({}) }), { cniVersion: '1.1.0' });
  });
});

describe('addresses from elsewhere', () => {
  const own = { address: '10.10.0.9/24' };
  const rows: readonly [name: string, conf: object, args: string | undefined, ips: readonly object[]][] = [
    ['CNI_ARGS with a gateway', config({}), 'IP=10.10.0.1/24;GATEWAY=10.10.0.254', [v4]],
    [
      'several in CNI_ARGS, each gateway for its own subnet',
      config({}),
      'IP=10.10.0.1/24,11.11.0.1/24,2001:db8::5/64;GATEWAY=10.10.0.254,2001:db8::1',
      [v4, { address: '11.11.0.1/24' }, { address: '2001:db8::5/64', gateway: '2001:db8::1' }],
    ],
    [
      'CNI_ARGS add to the configured ones, and their gateway is for the added ones',
      config({ addresses: [own] }),
      'IP=10.10.0.1/24,11.11.0.1/24;GATEWAY=10.10.0.254',
      [own, v4, { address: '11.11.0.1/24' }],
    ],
    [
      'args replace both',
      config({ addresses: [own] }, { args: { cni: { ips: ['10.10.0.5/24', '2001:DB8::5/64'] } } }),
      'IP=10.10.0.1/24',
      [{ address: '10.10.0.5/24' }, { address: '2001:db8::5/64' }],
    ],
    [
      'the runtime replaces all',
      config(
        { addresses: [v4] },
        {
          args: { cni: { ips: ['10.10.0.5/24'] } },
          RuntimeConfig: { ips: ['10.10.0.1/24', '3ffe:ffff:0:1ff::1/64'] },
        },
      ),
      'IP=10.10.0.7/24',
      [{ address: '10.10.0.1/24' }, { address: '3ffe:ffff:0:1ff::1/64' }],
    ],
    [
      'empty lists replace nothing',
      config({ addresses: [v4] }, { args: { cni: { ips: [] } }, runtimeConfig: { ips: [] } }),
      'IP=;GATEWAY=',
      [v4],
    ],
  ];
  for (const [name, conf, args, ips] of rows) {
    test(name, async () => {
      const result = await ok({ command: 'ADD', config: conf, ...(args !== undefined && { args }) });
      assert.deepEqual(result['ips'], ips);
    });
  }
});

describe('a bare address', () => {
  const addresses = [{ address: '192.0.2.1/24', gateway: '192.0.2.254' }, { address: '2001:db8::1/56' }];
  const [first, second] = addresses;
  const asked = { address: '192.0.2.100/24', gateway: '192.0.2.254' };

  test('in CNI_ARGS takes the place of the configured one in its subnet', async () => {
    const result = await ok({ command: 'ADD', config: config({ addresses }), args: 'IP=192.0.2.100' });
    assert.deepEqual(result['ips'], [second, asked]);
  });

  test('of each family takes the place of each', async () => {
    const result = await ok({
      command: 'ADD',
      config: config({ addresses }),
      args: 'IP=192.0.2.100,2001:DB8:0:ff::9',
    });
    assert.deepEqual(result['ips'], [asked, { address: '2001:db8:0:ff::9/56' }]);
  });

  test('of the runtime replaces all, as its others do', async () => {
    const conf = config({ addresses }, { runtimeConfig: { ips: ['192.0.2.100'] } });
    assert.deepEqual((await ok({ command: 'ADD', config: conf }))['ips'], [asked]);
  });

  test('with a prefix length adds to what is configured', async () => {
    const result = await ok({
      command: 'ADD',
      config: config({ addresses: [first] }),
      args: 'IP=192.0.2.100/24',
    });
    assert.deepEqual(result['ips'], [first, { address: '192.0.2.100/24' }]);
  });

  test('in no configured subnet is refused, and a prefix length is asked for', async () => {
    const { code, msg, details } = await refused({
      command: 'ADD',
      config: config({ addresses }),
      args: 'IP=198.51.100.7',
    });
    assert.deepEqual(
      [code, msg],
      [4, "the 'ip' field is expected to be in CIDR notation, got: '198.51.100.7'"],
    );
    assert.match(details ?? '', /^give the prefix length, as in 198\.51\.100\.7\/24/);
  });
});

describe('what is refused', () => {
  const ips = (rest: object) => config({}, rest);
  const rows: readonly [conf: object, args: string | undefined, code: number, msg: string][] = [
    [
      config({ addresses: [{ address: '10.10.0.1' }] }),
      undefined,
      7,
      "the 'address' field is expected to be in CIDR notation, got: '10.10.0.1'",
    ],
    [
      config({ addresses: [{ address: '10.10.0.1/24', gateway: 'x' }] }),
      undefined,
      7,
      'invalid IP address: x',
    ],
    [config({}), 'IP=10.10.0.1', 4, "the 'ip' field is expected to be in CIDR notation, got: '10.10.0.1'"],
    [config({}), 'IP=not-an-ip', 4, "the 'ip' field is expected to be in CIDR notation, got: 'not-an-ip'"],
    [config({}), 'IP=10.10.0.1/24;GATEWAY=x', 4, 'invalid gateway address: x'],
    [
      ips({ args: { cni: { ips: ['10.10.0.1'] } } }),
      undefined,
      7,
      "an entry in the 'ips' field is NOT in CIDR notation, got: '10.10.0.1'",
    ],
    [
      ips({ runtimeConfig: { ips: ['10.10.0.1'] } }),
      undefined,
      7,
      "an entry in the 'ips' field is NOT in CIDR notation, got: '10.10.0.1'",
    ],
    [config(undefined), undefined, 7, "IPAM config missing 'ipam' key"],
    [
      config(undefined, { args: { cni: { ips: ['10.10.0.1/24'] } } }),
      undefined,
      7,
      "IPAM config missing 'ipam' key",
    ],
    [
      config(undefined, { runtimeConfig: { ips: ['10.10.0.1/24'] } }),
      undefined,
      7,
      "IPAM config missing 'ipam' key",
    ],
    [
      config({ addresses: [v4, { address: '10.10.0.2/24' }] }, {}, '0.2.0'),
      undefined,
      7,
      'CNI version 0.2.0 does not support more than 1 address per family',
    ],
    [config({}), 'X=y', 4, 'ARGS: unknown args ["X=y"]'],
  ];
  for (const [conf, args, code, msg] of rows) {
    test(msg, async () => {
      const request = { config: conf, ...(args !== undefined && { args }) };
      const { cniVersion: _, ...error } = {
        cniVersion: '',
        ...(await refused({ ...request, command: 'ADD' })),
      };
      assert.deepEqual([error.code, error.msg], [code, msg]);
      assert.deepEqual(await ok({ ...request, command: 'DEL', containerID: 'unknown' }), {});
    });
  }
});

describe('the other verbs', () => {
  const conf = (prevResult: object) => config({ addresses: [v4] }, { prevResult });

  test('CHECK compares the gateways of the addresses in use', async () => {
    assert.equal(
      (await refused({ command: 'CHECK', config: config({ addresses: [v4] }) })).msg,
      'Required prevResult missing',
    );
    await ok({ command: 'CHECK', config: conf({ ips: [v4] }) });
    await ok({ command: 'CHECK', config: conf({ ips: [{ address: '10.10.0.2/24' }] }) });
    for (const ip of [{ ...v4, gateway: '10.10.0.253' }, { address: v4.address }]) {
      const { code, msg } = await refused({ command: 'CHECK', config: conf({ ips: [ip] }) });
      assert.deepEqual([code, msg], [150, 'static: Failed to match addr 10.10.0.1 on interface eth0']);
    }
  });

  test('STATUS looks at the configuration, GC has nothing to do', async () => {
    await ok({ command: 'STATUS', config: config({ addresses: [v4] }) });
    assert.equal(
      (await refused({ command: 'STATUS', config: config({ addresses: [{ address: 'x' }] }) })).code,
      7,
    );
    await ok({ command: 'GC', config: config({}, { 'cni.dev/valid-attachments': [] }) });
    assert.equal((await refused({ command: 'GC', config: config({}) })).code, 7);
  });
});

const reference = referenceBinary('static');
describe('the reference and this plugin', {
  skip: !reference && 'the reference plugins are not installed in /usr/lib/cni',
}, () => {
  const requests: readonly [command: string, conf: object, args?: string][] = [
    ['ADD', config({ addresses: [v4, v6], routes, dns }, {}, '1.0.0')],
    ['ADD', config({ addresses: [v4] }, {}, '0.2.0')],
    [
      'ADD',
      config({ addresses: [{ address: '10.10.0.9/24' }] }, {}, '0.4.0'),
      'IP=10.10.0.1/24,11.11.0.1/24;GATEWAY=10.10.0.254',
    ],
    ['ADD', config({}, { args: { cni: { ips: ['10.10.0.5/24'] } } }, '1.0.0'), 'IP=10.10.0.1/24'],
    ['ADD', config({ addresses: [{ address: 'x' }] }, {}, '1.0.0')],
    ['ADD', config({}, { runtimeConfig: { ips: ['10.10.0.5'] } }, '1.0.0')],
    ['ADD', config(undefined, {}, '1.0.0')],
    ['DEL', config(undefined, {}, '1.0.0')],
    ['CHECK', config({ addresses: [v4] }, {}, '1.0.0')],
    [
      'CHECK',
      config({ addresses: [v4] }, { prevResult: { ips: [{ ...v4, gateway: '10.10.0.3' }] } }, '1.0.0'),
    ],
  ];
  for (const [command, conf, args] of requests) {
    test(`do the same: ${command} ${JSON.stringify(conf)} ${args ?? ''}`, async () => {
      const request = { command, config: conf, ...(args !== undefined && { args }) };
      const [theirs, ours] = await Promise.all([reference?.(request), call(request)]);
      assert.equal(ours.exitCode, theirs?.exitCode);
      assert.deepEqual(comparable(ours.json), comparable(theirs?.json));
    });
  }

  /** Codes are finer here; older releases knew no route but destination and gateway, and printed empty dns. */
  function comparable(json: unknown): unknown {
    if (typeof json !== 'object' || json === null) return json;
    if ('msg' in json) return json.msg;
    const {
      dns: names = {},
      routes: list = [],
      ...rest
    } = json as { dns?: object; routes?: { dst: string; gw?: string }[] };
    return { ...rest, names, routes: list.map(({ dst, gw }) => ({ dst, gw })) };
  }
});

/** Rules and tables on the real kernel. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Addr } from '@heddle/netaddr';
import { Sabotage, UdpEndpoint } from '../testing/index.ts';
import { NET1, SbrScene } from './testing.ts';

const OWN = '192.168.1.0/24 dev net1 scope link src 192.168.1.209';
const DEFAULT = 'default via 192.168.1.1 dev net1';

describe('ADD', () => {
  test('gives an address a rule and a table', async () => {
    using scene = await SbrScene.create();
    scene.ip('route', 'add', '192.168.2.0/24', 'via', '192.168.1.2', 'dev', 'net1');
    const eth0 = scene.routes('main', 'eth0');
    const local = scene.routes('local', 'net1');
    const request = scene.request();
    const result = await scene.lab.add(request);
    assert.deepEqual(result.ips, (request.prevResult as typeof result).ips);
    assert.deepEqual(scene.rules(), ['from 192.168.1.209 lookup 100']);
    assert.deepEqual(scene.routes(100), [OWN, '192.168.2.0/24 via 192.168.1.2 dev net1', DEFAULT]);
    assert.deepEqual(scene.routes('main', 'net1'), ['fe80::/64 dev net1']);
    assert.deepEqual(scene.routes('main', 'eth0'), eth0);
    assert.deepEqual(scene.routes('local', 'net1'), local);
    await scene.lab.check({ ...request, prevResult: result });
  });

  test('takes a default route of the interface along, once', async () => {
    using scene = await SbrScene.create();
    scene.ip('route', 'replace', 'default', 'via', '192.168.1.1', 'dev', 'net1');
    await scene.lab.add(scene.request());
    assert.deepEqual(scene.routes(100), [OWN, DEFAULT]);
    assert.deepEqual(scene.routes('main', 'net1'), ['fe80::/64 dev net1']);
  });

  test('two addresses have a table each, the later rule before the earlier one', async () => {
    using scene = await SbrScene.create([NET1, { address: '192.168.101.209/24', gateway: '192.168.101.1' }]);
    scene.ip('route', 'add', '192.168.2.0/24', 'via', '192.168.1.2', 'dev', 'net1');
    scene.ip('route', 'add', '203.0.113.0/24', 'dev', 'net1');
    await scene.lab.add(scene.request());
    assert.deepEqual(scene.rules(), ['from 192.168.101.209 lookup 101', 'from 192.168.1.209 lookup 100']);
    const everywhere = '203.0.113.0/24 dev net1 scope link';
    assert.deepEqual(scene.routes(100), [
      OWN,
      '192.168.2.0/24 via 192.168.1.2 dev net1',
      everywhere,
      DEFAULT,
    ]);
    assert.deepEqual(scene.routes(101), [
      '192.168.101.0/24 dev net1 scope link src 192.168.101.209',
      everywhere,
      'default via 192.168.101.1 dev net1',
    ]);
  });

  test('several addresses of both families, and tables that nobody uses (containernetworking/plugins#581)', async () => {
    using scene = await SbrScene.create([
      { address: '192.0.2.10/24', gateway: '192.0.2.1' },
      { address: '198.51.100.10/24', gateway: '198.51.100.1' },
      { address: '2001:db8:1::10/64', gateway: '2001:db8:1::1' },
    ]);
    // A table with a rule, and one with a route only.
    scene.ip('rule', 'add', 'from', '10.9.9.9', 'table', '100');
    scene.ip('route', 'add', '203.0.113.0/24', 'via', '10.88.0.9', 'dev', 'eth0', 'table', '102');
    scene.ip('-6', 'route', 'add', 'default', 'via', '2001:db8:1::1', 'dev', 'net1');
    const before = scene.state();
    await scene.lab.add(scene.request());
    assert.deepEqual(scene.rules(), [
      'from 198.51.100.10 lookup 103',
      'from 192.0.2.10 lookup 101',
      'from 10.9.9.9 lookup 100',
      'from 2001:db8:1::10 lookup 104',
    ]);
    assert.deepEqual(scene.routes(101), [
      '192.0.2.0/24 dev net1 scope link src 192.0.2.10',
      'default via 192.0.2.1 dev net1',
    ]);
    assert.ok(scene.routes(103).includes('default via 198.51.100.1 dev net1'));
    assert.deepEqual(scene.routes(104), [
      '2001:db8:1::/64 dev net1',
      'default via 2001:db8:1::1 dev net1',
      'fe80::/64 dev net1',
    ]);
    // A second interface takes tables of its own.
    await scene.addLink('net2');
    scene.ip('address', 'add', '203.0.113.5/24', 'dev', 'net2');
    const ips = [{ address: '203.0.113.5/24', gateway: '203.0.113.1' }];
    const net2 = { ...scene.request(), ifName: 'net2', prevResult: { cniVersion: '1.0.0', ips } };
    await scene.lab.add(net2);
    assert.ok(scene.rules().includes('from 203.0.113.5 lookup 105'));
    const between = scene.rules();
    await scene.lab.del(scene.request());
    assert.deepEqual(scene.rules(), ['from 203.0.113.5 lookup 105', 'from 10.9.9.9 lookup 100']);
    assert.deepEqual(
      [101, 103, 104].map((table) => scene.routes(table)),
      [[], [], []],
    );
    await scene.lab.check(net2);
    assert.notEqual(scene.state(), before);
    assert.equal(between.length, 5);
  });

  test('a gateway that only a route knows leads out too (containernetworking/plugins#654)', async () => {
    using scene = await SbrScene.create([{ address: '192.0.2.204/24' }]);
    scene.ip('route', 'replace', 'default', 'via', '192.0.2.254', 'dev', 'net1');
    const { stderr } = await scene.lab.run({ ...scene.request(), command: 'ADD' });
    assert.equal(stderr, '');
    assert.ok(scene.routes(100).includes('default via 192.0.2.254 dev net1'));
  });

  test('takes its way out of an IPv6 default route that another interface shares', async () => {
    using scene = await SbrScene.create([{ address: 'fd02::5/64', gateway: 'fd02::1' }]);
    scene.ip('address', 'add', 'fd01::5/64', 'dev', 'eth0', 'nodad');
    scene.ip('-6', 'route', 'add', 'default', 'via', 'fd01::1', 'dev', 'eth0');
    scene.ip('-6', 'route', 'append', 'default', 'via', 'fd02::1', 'dev', 'net1');
    const ways = () =>
      scene
        .ip('-6', 'route')
        .split('\n')
        .map((line) => line.trim())
        .sort();
    const before = ways();
    assert.match(before.join(), /nexthop via fd01::1 .*nexthop via fd02::1 /);
    await assert.rejects(scene.lab.add(scene.request({ gateways: ['fd09::1'] })));
    assert.deepEqual(ways(), before);
    await scene.lab.add(scene.request());
    assert.match(ways().join(), /default via fd01::1 dev eth0/);
    assert.doesNotMatch(ways().join(), /fd02::/);
    assert.ok(scene.routes(100).includes('default via fd02::1 dev net1'));
  });

  test('no gateway at all is warned of (containernetworking/plugins#654)', async () => {
    using scene = await SbrScene.create([{ address: '192.0.2.204/24' }]);
    const { stderr, exitCode } = await scene.lab.run({ ...scene.request(), command: 'ADD' });
    assert.deepEqual(
      [exitCode, scene.routes(100)],
      [0, ['192.0.2.0/24 dev net1 scope link src 192.0.2.204']],
    );
    assert.match(stderr, /no gateway is known for 192\.0\.2\.204\/24/);
  });

  test('an answer leaves by the interface that was asked (containernetworking/plugins#654)', async () => {
    using scene = await SbrScene.create([NET1, { address: 'fd00::209/64', gateway: 'fd00::1' }]);
    const { host } = scene.lab;
    for (const address of ['192.168.1.1/24', 'fd00::1/64']) {
      host.run('ip', 'address', 'add', address, 'dev', 'hnet1', 'nodad');
    }
    for (const address of ['198.51.100.9/32', '2001:db8::9/128']) {
      host.run('ip', 'address', 'add', address, 'dev', 'hnet1', 'nodad');
    }
    await scene.lab.add(scene.request());
    for (const [from, to] of [
      ['198.51.100.9', '192.168.1.209'],
      ['2001:db8::9', 'fd00::209'],
    ] as const) {
      using server = new UdpEndpoint(scene.container.handle, Addr.parse(to), 5000);
      using client = new UdpEndpoint(host.handle, Addr.parse(from), 5001);
      client.send('question', Addr.parse(to), 5000);
      const question = await server.receive(5000);
      assert.equal(question?.text, 'question');
      server.send('answer', question.from, question.port);
      assert.equal((await client.receive(5000))?.text, 'answer', from);
    }
  });

  test('gateways outside the network, also link-local ones, lead out', async () => {
    using scene = await SbrScene.create([{ address: '192.0.2.10/32' }, { address: '2001:db8::10/64' }]);
    scene.ip('route', 'add', '10.0.0.1', 'dev', 'net1');
    scene.ip('route', 'replace', 'default', 'via', '10.0.0.1', 'dev', 'net1');
    scene.ip('-6', 'route', 'add', 'default', 'via', 'fe80::1', 'dev', 'net1');
    await scene.lab.add(scene.request());
    assert.deepEqual(scene.routes(100), ['10.0.0.1 dev net1 scope link', 'default via 10.0.0.1 dev net1']);
    assert.ok(scene.routes(101).includes('default via fe80::1 dev net1'));
  });

  test('with a table, adds rules only', async () => {
    using scene = await SbrScene.create([NET1, { address: '192.168.101.209/24' }]);
    const [main, table] = [scene.routes('main'), scene.routes('5000')];
    const request = scene.request({ table: 5000, gateways: ['192.168.1.7'] });
    await scene.lab.add(request);
    assert.deepEqual(scene.rules(), ['from 192.168.101.209 lookup 5000', 'from 192.168.1.209 lookup 5000']);
    assert.deepEqual([scene.routes('main'), scene.routes('5000')], [main, table]);
    await scene.lab.check(request);
    await scene.lab.del({ ...request, prevResult: undefined });
    assert.deepEqual(scene.rules(), []);
  });

  for (const [gateways, v4, v6] of [
    [['192.168.1.99'], '192.168.1.99', 'fd00::1'],
    [['fd00::99'], '192.168.1.1', 'fd00::99'],
    [['fd00::99', '192.168.1.99'], '192.168.1.99', 'fd00::99'],
  ] as const) {
    test(`gateways ${gateways} go before those of the result`, async () => {
      using scene = await SbrScene.create([NET1, { address: 'fd00::209/64', gateway: 'fd00::1' }]);
      scene.ip('-6', 'route', 'add', 'default', 'via', 'fd00::1', 'dev', 'net1');
      const request = scene.request({ gateways });
      await scene.lab.add(request);
      const defaults = (table: number) => scene.routes(table).filter((route) => route.startsWith('default'));
      assert.deepEqual(defaults(100), [`default via ${v4} dev net1`]);
      assert.deepEqual(defaults(101), [`default via ${v6} dev net1`]);
      await scene.lab.check(request);
    });
  }

  for (const [gateways, said] of [
    [['192.168.1.1', '192.168.1.2'], /multiple IPv4 addresses/],
    [['fd00::1', '192.168.1.2', 'fd00::2'], /multiple IPv6 addresses/],
    [['router'], /invalid gateway address: "router"/],
  ] as const) {
    test(`gateways ${gateways} are refused, and nothing is changed`, async () => {
      using scene = await SbrScene.create();
      const before = scene.state();
      await assert.rejects(scene.lab.add(scene.request({ gateways })), { cniCode: 7, msg: said });
      assert.equal(scene.state(), before);
    });
  }

  test('with source hints, the networks stay in the main table', async () => {
    using scene = await SbrScene.create([NET1, { address: 'fd00::209/64', gateway: 'fd00::1' }]);
    scene.ip('route', 'add', '192.168.2.0/24', 'via', '192.168.1.2', 'dev', 'net1');
    await scene.lab.add(scene.request({ addSourceHints: true }));
    assert.deepEqual(scene.routes('main', 'net1'), [
      OWN,
      'fd00::/64 dev net1 src fd00::209',
      'fe80::/64 dev net1',
    ]);
    assert.deepEqual(scene.routes(100), [OWN, '192.168.2.0/24 via 192.168.1.2 dev net1', DEFAULT]);
    assert.ok(scene.routes(101).includes('default via fd00::1 dev net1'));
  });

  test('addresses of other interfaces are left alone, those of none are not', async () => {
    using scene = await SbrScene.create();
    const prevResult = {
      cniVersion: '1.0.0',
      interfaces: [{ name: 'eth0' }, { name: 'net1' }],
      ips: [
        { address: '10.88.0.2/16', interface: 0 },
        { address: NET1.address, interface: 1 },
        { address: '192.168.1.210/24' },
        { address: '192.168.1.211/24', interface: 9 },
      ],
    };
    await scene.lab.add({ ...scene.request(), prevResult });
    const addresses = ['192.168.1.211', '192.168.1.210', '192.168.1.209'];
    assert.deepEqual(
      scene.rules(),
      addresses.map((address, index) => `from ${address} lookup ${102 - index}`),
    );
  });

  test('is refused out of a chain in every version, and without addresses', async () => {
    using scene = await SbrScene.create();
    for (const cniVersion of ['0.2.0', '0.3.1', '1.1.0']) {
      const { prevResult: _, ...alone } = scene.request({ cniVersion });
      await assert.rejects(scene.lab.add(alone), { msg: 'This plugin must be called as chained plugin' });
    }
    const prevResult = { cniVersion: '1.0.0', ips: [] };
    await assert.rejects(scene.lab.add({ ...scene.request(), prevResult }), { msg: /no addresses of net1/ });
  });

  for (const config of [{}, { addSourceHints: true }]) {
    test(`leaves everything as it was when it fails, whichever step fails: ${JSON.stringify(config)}`, async () => {
      using scene = await SbrScene.create([NET1, { address: 'fd00::209/64', gateway: 'fd00::1' }]);
      scene.ip('route', 'replace', 'default', 'via', '192.168.1.1', 'dev', 'net1', 'mtu', '1400');
      scene.ip('-6', 'route', 'add', '2001:db8::/32', 'via', 'fd00::5', 'dev', 'net1', 'metric', '7');
      const before = scene.state();
      for (let at = 1; ; at++) {
        const sabotage = new Sabotage(at);
        const wrap = sabotage.wrap.bind(sabotage);
        await scene.lab.run({ ...scene.request(config), command: 'ADD', wrap });
        if (sabotage.failed === undefined) break;
        assert.equal(scene.state(), before, sabotage.failed);
      }
    });
  }

  test('a refusal in the middle is taken back', async () => {
    using scene = await SbrScene.create();
    const before = scene.state();
    const unreachable = scene.request({ gateways: ['203.0.113.1'] });
    await assert.rejects(scene.lab.add(unreachable), { msg: /ENETUNREACH|EINVAL/ });
    assert.equal(scene.state(), before);
  });
});

describe('DEL', () => {
  test('deletes its rules and routes, twice, with and without a result', async () => {
    for (const prevResult of [undefined, { cniVersion: '1.0.0', ips: [{ address: NET1.address }] }]) {
      using scene = await SbrScene.create();
      await scene.lab.add(scene.request());
      const request = { ...scene.request(), prevResult };
      await scene.lab.del(request);
      assert.deepEqual([scene.rules(), scene.routes(100)], [[], []]);
      await scene.lab.del(request);
    }
  });

  test('goes on where one was killed that had restored the main table, and a part of the own ones', async () => {
    using scene = await SbrScene.create();
    const before = scene.state();
    await scene.lab.add(scene.request());
    scene.ip(
      'route',
      'add',
      '192.168.1.0/24',
      'dev',
      'net1',
      'proto',
      'kernel',
      'src',
      '192.168.1.209',
      'scope',
      'link',
    );
    scene.ip('route', 'delete', 'default', 'table', '100');
    await scene.lab.del(scene.request());
    assert.equal(scene.state(), before);
  });

  test('needs no interface and no namespace', async () => {
    using scene = await SbrScene.create();
    await scene.lab.add(scene.request());
    scene.ip('link', 'delete', 'net1');
    await scene.lab.del(scene.request());
    assert.deepEqual(scene.rules(), []);
    for (const netns of ['', '/run/netns/gone']) await scene.lab.del({ ...scene.request(), netns });
  });

  test("leaves other interfaces' rules for the same address", async () => {
    using scene = await SbrScene.create();
    scene.ip('route', 'add', 'default', 'via', '10.88.0.1', 'dev', 'eth0', 'table', '7');
    scene.ip('rule', 'add', 'from', '192.168.1.209', 'table', '7');
    await scene.lab.add(scene.request());
    await scene.lab.del(scene.request());
    assert.deepEqual(scene.rules(), ['from 192.168.1.209 lookup 7']);
  });
});

const DRIFTS: readonly (readonly [args: string, said: RegExp])[] = [
  ['rule delete from 192.168.1.209', /the rule for packets from 192\.168\.1\.209 is missing/],
  ['-6 rule delete from fd00::209', /the rule for packets from fd00::209 is missing/],
  ['route delete default table 100', /the route to 0\.0\.0\.0\/0 via 192\.168\.1\.1 is missing in table 100/],
  ['route delete 192.168.1.0/24 table 100', /the route to 192\.168\.1\.0\/24 is missing in table 100/],
  [
    '-6 route replace default via fd00::5 dev net1 table 101',
    /the route to ::\/0 via fd00::1 is missing in table 101/,
  ],
  ['link delete net1', /link net1 is missing/],
];

for (const [args, said] of DRIFTS) {
  test(`CHECK finds drift: ${args}`, async () => {
    using scene = await SbrScene.create([NET1, { address: 'fd00::209/64', gateway: 'fd00::1' }]);
    await scene.lab.add(scene.request());
    await scene.lab.check(scene.request());
    if (args.includes('replace')) scene.ip(...'-6 route flush default table 101'.split(' '));
    scene.ip(...args.split(' '));
    await assert.rejects(scene.lab.check(scene.request()), { cniCode: 150, msg: said });
  });
}

test('two ADDs at once take different tables', async () => {
  using scene = await SbrScene.create();
  await scene.addLink('net2');
  scene.ip('address', 'add', '203.0.113.5/24', 'dev', 'net2');
  const prevResult = { cniVersion: '1.0.0', ips: [{ address: '203.0.113.5/24', gateway: '203.0.113.1' }] };
  const net2 = { ...scene.request(), ifName: 'net2', prevResult };
  await Promise.all([scene.lab.add(scene.request()), scene.lab.add(net2)]);
  assert.equal(new Set(scene.rules().map((rule) => rule.split(' ').at(-1))).size, 2);
});

test('GC and STATUS', async () => {
  using scene = await SbrScene.create();
  await scene.lab.gc({ type: 'sbr' }, []);
  await scene.lab.status({ type: 'sbr' });
  await assert.rejects(scene.lab.status({ type: 'sbr', gateways: ['x'] }), { cniCode: 7 });
});

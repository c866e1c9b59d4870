/** vrf and sbr on one interface, in either order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sbr } from '../sbr/index.ts';
import { PluginLab } from '../testing/index.ts';
import { vrf } from './index.ts';

/** A container whose `eth0` has what ptp gives: routes that say which address to use. */
async function routed() {
  const lab = new PluginLab([sbr, vrf]);
  const container = lab.container();
  const { links } = container.session;
  await links.add({ name: 'eth0', kind: 'veth', up: true, peer: { name: 'peer0' } });
  await links.set('peer0', { up: true });
  const ip = (line: string) => container.run(`ip ${line}`);
  ip('address add 10.1.0.5/24 dev eth0 noprefixroute');
  ip('address add fd01::5/64 dev eth0 nodad noprefixroute');
  for (const [family, prefix, network] of [
    ['-4', '10.1.0.1 dev eth0 scope link src 10.1.0.5', '10.1.0.0/24 via 10.1.0.1 dev eth0 src 10.1.0.5'],
    ['-6', 'fd01::1 dev eth0 src fd01::5', 'fd01::/64 via fd01::1 dev eth0 src fd01::5'],
  ] as const) {
    for (const route of [prefix, network]) ip(`${family} route add ${route}`);
  }
  ip('route add default via 10.1.0.1');
  ip('-6 route add default via fd01::1');
  const request = (type: string) => ({
    config: { type, cniVersion: '1.0.0', name: 'net1', vrfname: 'blue' },
    container,
    prevResult: {
      cniVersion: '1.0.0',
      interfaces: [{ name: 'eth0', sandbox: container.path }],
      ips: [
        { address: '10.1.0.5/24', gateway: '10.1.0.1', interface: 0 },
        { address: 'fd01::5/64', gateway: 'fd01::1', interface: 0 },
      ],
    },
  });
  return { ip, lab, request, [Symbol.dispose]: () => lab[Symbol.dispose]() };
}

for (const types of [
  ['vrf', 'sbr'],
  ['sbr', 'vrf'],
] as const) {
  test(`${types.join(', then ')}: both have what they made, and take it back`, async () => {
    using scene = await routed();
    const { ip, lab, request } = scene;
    for (const type of types) await lab.add(request(type));
    for (const type of types) await lab.check(request(type));
    assert.match(ip('route show table 100'), /default via 10\.1\.0\.1 dev eth0/);
    assert.match(ip('route show table 100'), /10\.1\.0\.0\/24 via 10\.1\.0\.1 dev eth0/);
    assert.match(ip('-6 route show table 101'), /default via fd01::1 dev eth0/);
    if (types[0] === 'vrf') assert.match(ip('route show vrf blue'), /default via 10\.1\.0\.1 dev eth0/);
    for (const type of types.toReversed()) {
      for (let times = 0; times < 3; times++) await lab.del(request(type));
    }
    assert.doesNotMatch(ip('rule') + ip('-6 rule'), /lookup 10[01]/);
    assert.doesNotMatch(ip('route show table all') + ip('-6 route show table all'), /table 10[01]/);
    assert.doesNotMatch(ip('link'), /blue/);
  });
}

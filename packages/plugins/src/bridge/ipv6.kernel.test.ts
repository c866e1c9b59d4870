/** IPv6 where it is off or missing, and duplicate address detection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';
import { SysError } from '@heddle/sys';
import { PluginLab, StubIpam, UdpEndpoint } from '../testing/index.ts';
import { bridge } from './index.ts';

const config = { type: 'bridge', bridge: 'br0', isDefaultGateway: true, ipam: { type: 'stub' } };
const dual = { ips: [{ address: '10.1.2.2/24' }, { address: 'fd00::2/64' }] };

/** A kernel without `/proc/sys/net/ipv6`. */
function withoutIpv6(session: KernelSession): KernelSession {
  const guard = (name: string): void => {
    if (/^net[./]ipv6/.test(name)) {
      throw new SysError({
        syscall: 'open',
        errnum: 2,
        path: `/proc/sys/${name}`,
        message: `open ${name}: ENOENT`,
      });
    }
  };
  const sysctl: KernelSession['sysctl'] = {
    has: async (name) => !/^net[./]ipv6/.test(name) && session.sysctl.has(name),
    read: async (name) => {
      guard(name);
      return session.sysctl.read(name);
    },
    write: async (name, value) => {
      guard(name);
      return session.sysctl.write(name, value);
    },
    tryWrite: (values) =>
      session.sysctl.tryWrite(
        Object.fromEntries(Object.entries(values).filter(([name]) => !/^net[./]ipv6/.test(name))),
      ),
  };
  return new Proxy(session, {
    get(target, name) {
      if (name === 'sysctl') return sysctl;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('an IPv4 network works where the kernel has no IPv6', async () => {
  using lab = new PluginLab([bridge, new StubIpam({ ips: [{ address: '10.1.2.2/24' }] }).plugin]);
  const container = lab.container();
  const request = { config, container, wrap: withoutIpv6 };
  const prevResult = await lab.add(request);
  assert.ok(container.pings('10.1.2.1'));
  await lab.check({ ...request, prevResult });
  await lab.del({ ...request, prevResult });
});

test('an IPv6 address where the kernel has no IPv6 is refused by name, and nothing is left', async () => {
  const ipam = new StubIpam(dual);
  using lab = new PluginLab([bridge, ipam.plugin]);
  const container = lab.container();
  await assert.rejects(lab.add({ config, container, wrap: withoutIpv6 }), {
    msg: /cannot enable IPv6 on eth0 for fd00::2\/64/,
  });
  assert.equal(await container.session.links.find('eth0'), undefined);
  assert.equal(ipam.held.size, 0);
});

test('where IPv6 is switched off by default, it is switched on for the interface', async () => {
  using lab = new PluginLab([bridge, new StubIpam(dual).plugin]);
  const container = lab.container();
  for (const scope of ['all', 'default']) {
    await container.session.sysctl.write(`net/ipv6/conf/${scope}/disable_ipv6`, '1');
  }
  await lab.add({ config, container });
  assert.ok(container.pings('fd00::1'));
  assert.equal(await container.session.sysctl.read('net/ipv6/conf/eth0/disable_ipv6'), '0');
});

test('where IPv6 is switched off for the bridge, the error names the address and says so', async () => {
  const ipam = new StubIpam(dual);
  using lab = new PluginLab([bridge, ipam.plugin]);
  await lab.host.session.sysctl.write('net/ipv6/conf/default/disable_ipv6', '1');
  const added = lab.add({ config, container: lab.container() });
  await assert.rejects(added, { msg: /fd00::1\/64.*IPv6 is disabled/ });
  assert.equal(ipam.held.size, 0);
});

test('no address is tentative when ADD returns, and each can be bound at once', async () => {
  let next = 1;
  const ipam = new StubIpam(() => {
    next++;
    return { ips: [{ address: `10.1.2.${next}/24` }, { address: `fd00::${next.toString(16)}/64` }] };
  });
  using lab = new PluginLab([bridge, ipam.plugin]);
  for (let round = 0; round < 50; round++) {
    const container = lab.container();
    const { ips = [] } = await lab.add({ config, container });
    const addresses = await container.session.addresses.list({ link: 'eth0' });
    assert.ok(addresses.every(({ tentative }) => !tentative));
    for (const { address } of ips) {
      using _end = new UdpEndpoint(container.handle, Addr.parse(address.split('/')[0] ?? ''));
    }
    await lab.del({ config, container });
    container[Symbol.dispose]();
  }
});

test('with enabledad, an address that another container has fails the ADD, and the address is released', async () => {
  const ipam = new StubIpam(dual);
  using lab = new PluginLab([bridge, ipam.plugin]);
  await lab.add({ config, container: lab.container('holder') });
  const container = lab.container('second');
  await assert.rejects(lab.add({ config: { ...config, enabledad: true }, container }), {
    msg: /address fd00::2\/64 on eth0 is a duplicate/,
  });
  assert.deepEqual([...ipam.held], ['net1/holder/eth0']);
  assert.equal(await container.session.links.find('eth0'), undefined);
});

test('with enabledad and no duplicate, ADD waits until the address can be used', async () => {
  using lab = new PluginLab([bridge, new StubIpam({ ips: [{ address: 'fd00::2/64' }] }).plugin]);
  const container = lab.container();
  await lab.add({ config: { ...config, enabledad: true }, container });
  const addresses = await container.session.addresses.list({ link: 'eth0', family: 6 });
  assert.ok(addresses.every(({ tentative, dadFailed }) => !tentative && !dadFailed));
  assert.equal(await container.session.sysctl.read('net/ipv6/conf/eth0/accept_dad'), '1');
});

/** Staged faults of addresses, sizes and the host. */
import { addr, bridged, hostWith, list, prefix } from './scene.ts';
import { one, type StagedCase } from './staged-case.ts';

const local = (more: object) => ({ type: 'host-local', ...more });
const lan = (more: object) => list({ type: 'macvlan', master: 'eth0', ipam: local(more) });
const named = (name: string, network: object) => ({ ...network, name });
const gateway = (subnet: string, bridge: string) => bridged(subnet, { isGateway: true, bridge });

/** One for each rule. */
export const ADDRESS_CASES: readonly StagedCase[] = [
  {
    rule: 'address/no-range',
    bad: one(bridged({ type: 'host-local' })),
    at: ':1:',
    good: one(list({ type: 'antrea', ipam: { type: 'host-local' } })),
  },
  {
    rule: 'address/host-bits',
    bad: one(bridged('10.1.2.3/24')),
    at: ':1:',
    good: one(bridged('10.1.2.0/24')),
  },
  {
    rule: 'address/range-outside',
    bad: one(bridged(local({ subnet: '10.1.2.0/24', rangeStart: '10.1.3.5' }))),
    at: ':1:',
    good: one(bridged(local({ subnet: '10.1.2.0/23', rangeStart: '10.1.3.5' }))),
  },
  {
    rule: 'address/range-reversed',
    bad: one(bridged(local({ subnet: '10.1.2.0/24', rangeStart: '10.1.2.20', rangeEnd: '10.1.2.10' }))),
    at: ':1:',
    good: one(bridged(local({ subnet: '10.1.2.0/24', rangeStart: '10.1.2.20', rangeEnd: '10.1.2.20' }))),
  },
  {
    rule: 'address/empty-range',
    bad: one(bridged(local({ subnet: '10.1.2.0/30', rangeEnd: '10.1.2.1' }))),
    at: ':1:',
    good: one(bridged(local({ subnet: '10.1.2.0/30', rangeEnd: '10.1.2.1', gateway: '10.1.2.2' }))),
  },
  {
    rule: 'address/range-boundary',
    bad: one(bridged(local({ subnet: '10.1.2.0/24', rangeStart: '10.1.2.0' }))),
    at: ':1:',
    good: one(bridged(local({ subnet: '2001:db8::/64', rangeStart: '2001:db8::' }))),
  },
  {
    rule: 'address/ranges-overlap',
    bad: one(bridged(local({ ranges: [[{ subnet: '10.1.0.0/16' }], [{ subnet: '10.1.2.0/24' }]] }))),
    at: ':1:',
    good: one(
      bridged(
        local({
          ranges: [
            [
              { subnet: '10.1.2.0/24', rangeEnd: '10.1.2.99' },
              { subnet: '10.1.2.0/24', rangeStart: '10.1.2.100' },
            ],
          ],
        }),
      ),
    ),
  },
  {
    rule: 'address/mixed-set',
    bad: one(bridged(local({ ranges: [[{ subnet: '10.1.0.0/16' }, { subnet: '2001:db8::/64' }]] }))),
    at: ':1:',
    good: one(bridged(local({ ranges: [[{ subnet: '10.1.0.0/16' }], [{ subnet: '2001:db8::/64' }]] }))),
  },
  {
    rule: 'address/static-without-prefix',
    bad: one(bridged({ type: 'static', addresses: [{ address: '192.0.2.10' }] })),
    at: ':1:',
    good: one(bridged({ type: 'static', addresses: [{ address: '192.0.2.10/24' }] })),
  },
  {
    rule: 'address/special-subnet',
    bad: one(bridged('224.1.0.0/16')),
    at: ':1:',
    good: one(bridged('100.64.0.0/10')),
  },
  {
    rule: 'address/gateway-reserved',
    bad: one(bridged(local({ subnet: '10.1.2.0/24', gateway: '10.1.2.255' }))),
    at: ':1:',
    good: one(bridged(local({ subnet: '10.1.2.0/23', gateway: '10.1.2.255' }))),
  },
  {
    rule: 'address/gateway-outside',
    bad: one(bridged(local({ subnet: '192.0.2.0/24', gateway: '198.51.100.1' }))),
    at: ':1:',
    good: one(
      bridged(
        local({
          ranges: [
            [{ subnet: '192.0.2.0/24', gateway: '192.0.2.254' }],
            [{ subnet: '2001:db8::/64', gateway: '2001:db8::1' }],
          ],
        }),
      ),
    ),
  },
  {
    rule: 'address/route-gateway',
    bad: one(bridged(local({ subnet: '10.1.0.0/16', routes: [{ dst: '10.9.0.0/16', gw: '10.2.0.1' }] }))),
    at: ':1:',
    good: one(
      bridged(
        local({
          subnet: '10.1.0.0/16',
          routes: [
            { dst: '10.9.0.0/16', gw: '10.1.0.254' },
            { dst: '::/0', gw: 'fe80::1' },
          ],
        }),
      ),
    ),
  },
  {
    rule: 'address/no-default-route',
    bad: one(bridged('10.1.0.0/16', { isGateway: true, ipMasq: true })),
    at: ':1:',
    good: one(
      bridged(local({ subnet: '10.1.0.0/16', routes: [{ dst: '0.0.0.0/0' }] }), {
        isGateway: true,
        ipMasq: true,
      }),
    ),
  },
  {
    rule: 'address/subnet-too-small',
    bad: one(bridged('192.0.2.0/31')),
    at: ':1:',
    good: one(bridged('192.0.2.0/30')),
  },
  {
    rule: 'address/fewer-than-pods',
    bad: one(bridged('10.1.2.0/26'), { options: { maxPods: 110 } }),
    at: ':1:',
    good: {
      files: {
        '10-pods.conflist': bridged('10.1.2.0/25'),
        '87-podman.conflist': named('podman', gateway('10.88.0.0/28', 'cni-podman0')),
      },
      options: { maxPods: 110 },
    },
  },
  {
    rule: 'overlap/networks',
    bad: {
      files: {
        'a.conflist': named('a', gateway('10.1.0.0/16', 'br-a')),
        'b.conflist': named('b', gateway('10.1.2.0/24', 'br-b')),
      },
    },
    at: 'b.conflist:1:',
    good: {
      files: {
        'a.conflist': named('a', lan({ subnet: '192.0.2.0/24', rangeEnd: '192.0.2.99' })),
        'b.conflist': named('b', lan({ subnet: '192.0.2.0/24', rangeStart: '192.0.2.100' })),
        'c.conflist': named('c', bridged('192.0.2.0/24', { bridge: 'br-vlan7' })),
      },
    },
  },
  {
    rule: 'overlap/services',
    bad: one(bridged('10.96.4.0/24'), { options: { serviceCidrs: [prefix('10.96.0.0/12')] } }),
    at: ':1:',
    good: one(bridged('10.112.0.0/24'), { options: { serviceCidrs: [prefix('10.96.0.0/12')] } }),
  },
  {
    rule: 'overlap/nodes',
    bad: one(gateway('10.0.0.0/8', 'br0'), { options: { nodeAddresses: [addr('10.20.30.40')] } }),
    at: ':1:',
    good: one(lan({ subnet: '10.0.0.0/8', rangeStart: '10.99.0.1' }), {
      options: { nodeAddresses: [addr('10.20.30.40')] },
    }),
  },
  {
    rule: 'overlap/host-addresses',
    bad: one(lan({ subnet: '198.51.100.0/24' }), { host: hostWith() }),
    at: ':1:',
    good: one(lan({ subnet: '198.51.100.0/24', rangeStart: '198.51.100.64' }), { host: hostWith() }),
  },
  {
    rule: 'overlap/host-routes',
    bad: one(gateway('10.1.0.0/16', 'br0'), {
      host: hostWith({
        routes: [{ destination: prefix('10.1.7.0/24'), device: 'tun0', gateway: addr('192.0.2.1') }],
      }),
    }),
    at: ':1:',
    good: one(gateway('10.1.0.0/16', 'br0'), {
      host: hostWith({
        routes: [
          { destination: prefix('10.0.0.0/8'), device: 'tun0', gateway: addr('192.0.2.1') },
          { destination: prefix('10.1.0.0/16'), device: 'br0' },
          { destination: prefix('10.1.0.9/32'), device: 'veth1' },
        ],
      }),
    }),
  },
  {
    rule: 'mtu/too-small',
    bad: one(bridged('2001:db8::/64', { mtu: 1279 })),
    at: ':1:',
    good: one(bridged('2001:db8::/64', { mtu: 1280 })),
  },
  {
    rule: 'mtu/above-master',
    bad: one(list({ type: 'macvlan', master: 'eth0', mtu: 2000, ipam: { type: 'dhcp' } }), {
      host: hostWith(),
    }),
    at: ':1:',
    good: one(list({ type: 'macvlan', master: 'eth0', mtu: 1500, ipam: { type: 'dhcp' } }), {
      host: hostWith(),
    }),
  },
  {
    rule: 'mtu/above-path',
    bad: one(list({ type: 'calico', mtu: 1500, ipam: { type: 'calico-ipam' } }), {
      host: hostWith({
        links: [
          { name: 'eth0', mtu: 1500 },
          { name: 'vxlan.calico', mtu: 1450 },
        ],
      }),
    }),
    at: ':1:',
    good: one(list({ type: 'calico', mtu: 1450, ipam: { type: 'calico-ipam' } }), {
      host: hostWith({
        links: [
          { name: 'eth0', mtu: 1500 },
          { name: 'vxlan.calico', mtu: 1450 },
        ],
      }),
    }),
  },
  {
    rule: 'mtu/tuned-above',
    bad: one(
      list({ type: 'ptp', mtu: 1400, ipam: local({ subnet: '10.1.0.0/16' }) }, { type: 'tuning', mtu: 1500 }),
    ),
    at: ':1:',
    good: one(
      list({ type: 'ptp', mtu: 1400, ipam: local({ subnet: '10.1.0.0/16' }) }, { type: 'tuning', mtu: 1400 }),
    ),
  },
  {
    rule: 'mtu/needlessly-small',
    bad: one(bridged('10.1.0.0/16', { isGateway: true, mtu: 1000 }), { host: hostWith() }),
    at: ':1:',
    good: one(bridged('10.1.0.0/16', { isGateway: true, mtu: 1420 }), { host: hostWith() }),
  },
  {
    rule: 'host/forwarding-off',
    bad: one(list({ type: 'calico', ipam: { type: 'calico-ipam' } }), {
      host: hostWith({ forwarding: { ipv4: false, ipv6: false } }),
    }),
    at: ':1:',
    good: one(gateway('10.1.0.0/16', 'br0'), { host: hostWith({ forwarding: { ipv4: false } }) }),
  },
  {
    rule: 'host/ipv6-disabled',
    bad: one(bridged('2001:db8::/64'), { host: hostWith({ ipv6Disabled: true }) }),
    at: ':1:',
    good: one(bridged('10.1.0.0/16'), { host: hostWith({ ipv6Disabled: true }) }),
  },
  {
    rule: 'host/no-master',
    bad: one(list({ type: 'vlan', master: 'eth7', vlanId: 5, ipam: { type: 'dhcp' } }), { host: hostWith() }),
    at: ':1:',
    good: one(
      list({ type: 'vlan', master: 'nope0', linkInContainer: true, vlanId: 5, ipam: { type: 'dhcp' } }),
      { host: hostWith() },
    ),
  },
];

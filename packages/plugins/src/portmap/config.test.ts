import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConfigError, decodeConfig } from '@heddle/cni';
import { portMapOptions, portMappings, portmapConfig } from './config.ts';
import { targetsIn } from './published.ts';

const read = (config: object) => decodeConfig(portmapConfig, config);
const mapped = (...portMaps: object[]) => portMappings(read({ runtimeConfig: { portMappings: portMaps } }));
const web = { hostPort: 8080, containerPort: 80, protocol: 'tcp' };

describe('mappings', () => {
  test('protocols are known in any case, and TCP when none is named', () => {
    assert.equal(mapped({ ...web, protocol: 'UDP' })[0]?.protocol, 'udp');
    assert.equal(mapped({ ...web, protocol: 'Sctp' })[0]?.protocol, 'sctp');
    assert.equal(mapped({ ...web, protocol: '' })[0]?.protocol, 'tcp');
    assert.equal(mapped({ hostPort: 1, containerPort: 1 })[0]?.protocol, 'tcp');
  });

  test('members are known in any case', () => {
    assert.equal(
      mapped({ HostPort: 8080, ContainerPort: 80, Protocol: 'tcp', HostIP: '' })[0]?.hostPort,
      8080,
    );
  });

  for (const [mapping, text] of [
    [{ ...web, hostPort: 0 }, 'Invalid host port number: 0'],
    [{ ...web, hostPort: -1 }, 'Invalid host port number: -1'],
    [{ ...web, hostPort: 65_536 }, 'Invalid host port number: 65536'],
    [{ ...web, containerPort: 0 }, 'Invalid container port number: 0'],
    [{ ...web, protocol: 'icmp' }, 'Invalid protocol of host port 8080: "icmp"'],
    [{ ...web, hostIP: '10.0.0' }, 'Invalid host IP of host port 8080: "10.0.0"'],
  ] as const) {
    test(`${JSON.stringify(mapping)} is refused: ${text}`, () => {
      assert.throws(
        () => mapped(mapping),
        (error) => error instanceof ConfigError && error.msg === text,
      );
    });
  }

  test('an IPv4 address in the clothes of IPv6 is an IPv4 address', () => {
    assert.equal(String(mapped({ ...web, hostIP: '::ffff:192.0.2.1' })[0]?.hostIP), '192.0.2.1');
  });
});

describe('backend', () => {
  for (const [config, backend] of [
    [{}, 'nftables'],
    [{ backend: 'iptables' }, 'iptables'],
    [{ externalSetMarkChain: 'KUBE-MARK-MASQ' }, 'iptables'],
    [{ conditionsV4: ['!', '-d', '192.0.2.9'] }, 'iptables'],
    [{ conditionsV6: ['-d', '2001:db8::/32'] }, 'iptables'],
    [{ conditionsV4: ['ip', 'daddr', '!=', '192.0.2.9'] }, 'nftables'],
    [{ backend: 'nftables', conditionsV6: [] }, 'nftables'],
  ] as const) {
    test(`${JSON.stringify(config)} means ${backend}`, () => {
      assert.equal(portMapOptions(read(config)).backend, backend);
    });
  }

  for (const [config, text] of [
    [{ backend: 'ipfw' }, 'unrecognized backend "ipfw"'],
    [{ markMasqBit: 32 }, 'MasqMarkBit must be between 0 and 31'],
    [{ markMasqBit: 0, externalSetMarkChain: 'X' }, 'Cannot specify externalSetMarkChain and markMasqBit'],
    [
      { backend: 'iptables', conditionsV4: ['ip', 'daddr', '192.0.2.1'], conditionsV6: ['iifname', 'eth0'] },
      'iptables backend was requested but configuration contains nftables-specific options [conditionsV4 conditionsV6]',
    ],
    [
      {
        backend: 'nftables',
        externalSetMarkChain: 'X',
        conditionsV4: ['-d', '::'],
        conditionsV6: ['!', '-d', '::'],
      },
      'nftables backend was requested but configuration contains iptables-specific options [externalSetMarkChain conditionsV4 conditionsV6]',
    ],
    [
      { conditionsV4: ['-d', '192.0.2.1'], conditionsV6: ['iifname', 'eth0'] },
      'configuration mixes iptables-specific options [conditionsV4] and nftables-specific options [conditionsV6]',
    ],
  ] as const) {
    test(`${JSON.stringify(config)} is refused`, () => {
      assert.throws(
        () => portMapOptions(read(config)),
        (error) => error instanceof ConfigError && error.msg === text,
      );
    });
  }

  test('a bit becomes a mark', () => {
    assert.equal(portMapOptions(read({ markMasqBit: 31 })).mark, 0x8000_0000);
    assert.equal(portMapOptions(read({})).mark, undefined);
  });
});

describe('where ports lead', () => {
  const interfaces = [
    { name: 'cni0' },
    { name: 'eth0', sandbox: '/run/netns/x' },
    { name: 'net1', sandbox: '/run/netns/x' },
  ];
  const targets = (...ips: { address: string; interface?: number }[]) =>
    targetsIn({ cniVersion: '1.1.0', interfaces, ips }, 'eth0').map(String);

  test("to the first address of each family that is the container's", () => {
    const ips = [
      { address: '10.9.0.1/24', interface: 0 },
      { address: '10.2.0.2/24', interface: 2 },
      { address: 'fd00::2/64', interface: 1 },
      { address: '10.1.0.2/24', interface: 1 },
      { address: '10.1.0.3/24', interface: 1 },
    ];
    assert.deepEqual(targets(...ips), ['10.1.0.2/24', 'fd00::2/64']);
  });

  test('to an address on no interface, or on one that the result does not have', () => {
    assert.deepEqual(targets({ address: '10.1.0.2/24' }), ['10.1.0.2/24']);
    assert.deepEqual(targets({ address: '10.1.0.2/24', interface: 7 }), ['10.1.0.2/24']);
  });
});

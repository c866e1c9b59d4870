/** Faults on the way of packets, staged for real: the right cause comes first. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Finding } from '@heddle/doctor';
import { Addr } from '@heddle/netaddr';
import { TestNetns } from '@heddle/plugins/testing';

import { missing } from '../support/programs.ts';
import { DoctorLab, type LabPod } from './doctor-lab.ts';

/** A node with one pod, on which something is broken; and what the doctor finds. */
async function found(
  breakIt: (lab: DoctorLab, pod: LabPod) => void,
  { bridge = {}, ...options }: { readonly bridge?: object; readonly targets?: readonly Addr[] } = {},
): Promise<readonly Finding[]> {
  using lab = new DoctorLab();
  const pod = await lab.attach(lab.podnet({ bridge }), 'c1');
  breakIt(lab, pod);
  return await lab.findings(options);
}

const hostVeth = (lab: DoctorLab) => /(veth\w+)@/.exec(lab.run('ip -o link show master cni0'))?.[1] ?? '';

describe('links and addresses', () => {
  test("the node's end is down", async () => {
    const [first] = await found((lab) => lab.run(`ip link set ${hostVeth(lab)} down`));
    assert.equal(first?.id, 'attachment/link-down');
    assert.match(first?.what ?? '', /veth\w+ on the node is down/);
  });

  test("the container's end is down", async () => {
    const [first] = await found((_, pod) => pod.run('ip link set eth0 down'));
    assert.equal(first?.id, 'attachment/link-down');
    assert.match(first?.what ?? '', /eth0 in the container is down/);
  });

  test('the bridge is down', async () => {
    const [first] = await found((lab) => lab.run('ip link set cni0 down'));
    assert.equal(first?.id, 'attachment/link-down');
    assert.match(first?.what ?? '', /cni0 on the node is down/);
  });

  test('the port has left the bridge', async () => {
    const [first] = await found((lab) => lab.run(`ip link set ${hostVeth(lab)} nomaster`));
    assert.equal(first?.id, 'attachment/detached');
  });

  test('the interface is gone', async () => {
    const [first] = await found((_, pod) => pod.run('ip link delete eth0'));
    assert.equal(first?.id, 'attachment/no-link');
  });

  test('the address is gone', async () => {
    const [first] = await found((_, pod) => pod.run('ip address del 10.45.0.2/24 dev eth0'));
    assert.equal(first?.id, 'attachment/no-address');
  });

  for (const [family, address, prefix] of [
    ['IPv4', '10.45.0.2', '24'],
    ['IPv6', 'fd45::2', '64'],
  ] as const) {
    test(`somebody else on the bridge has the address (${family})`, async () => {
      using stranger = new TestNetns();
      stranger.skipAddressDetection();
      const [first] = await found((lab) => {
        lab.join(stranger, ['stranger', 'eth0']);
        lab.run('ip link set stranger master cni0');
        stranger.run(`ip address add ${address}/${prefix} dev eth0`);
      });
      assert.equal(first?.id, 'address/duplicate');
      assert.ok(first?.what.includes(`${address} of c1 eth0 on podnet is also answered for by`), first?.what);
      assert.match(first?.evidence?.join() ?? '', /[\da-f:]{17} is behind stranger/);
    });
  }

  test('two containers have one address', async () => {
    using lab = new DoctorLab();
    const list = lab.podnet();
    await lab.attach(list, 'c1');
    const other = await lab.attach(list, 'c2');
    other.run('ip address add 10.45.0.2/24 dev eth0');
    const findings = await lab.findings();
    const duplicate = findings.find(({ id }) => id === 'address/duplicate');
    assert.match(duplicate?.what ?? '', /10\.45\.0\.2 is on c1 eth0 on podnet and on c2 eth0 on podnet/);
  });

  test('a hairpin is refused', async () => {
    const [first] = await found((lab) => lab.run(`bridge link set dev ${hostVeth(lab)} hairpin off`), {
      bridge: { hairpinMode: true },
    });
    assert.equal(first?.id, 'port/hairpin');
  });
});

describe('routes and the kernel', () => {
  test('the default route of the container is gone', async () => {
    const [first] = await found((_, pod) => pod.run('ip route del default'));
    assert.equal(first?.id, 'attachment/no-route');
    assert.match(first?.what ?? '', /the route to 0\.0\.0\.0\/0 is gone/);
  });

  test("the node's route to the containers is gone, and what is said to mend it does", async () => {
    using lab = new DoctorLab();
    await lab.attach(lab.podnet(), 'c1');
    lab.run('ip route del 10.45.0.0/24 dev cni0');
    const findings = await lab.findings();
    assert.deepEqual(
      findings.map(({ id }) => id),
      ['attachment/no-host-route'],
    );
    assert.match(findings[0]?.what ?? '', /sends packets for 10\.45\.0\.2 out of eth0, not to cni0/);
    for (const command of findings[0]?.commands ?? []) lab.run(command);
    assert.deepEqual(await lab.findings(), []);
  });

  test('another route hides the containers, and what is said to mend it does', async () => {
    using lab = new DoctorLab();
    await lab.attach(lab.podnet(), 'c1');
    lab.run('ip route add 10.45.0.0/28 dev eth0');
    const [first] = await lab.findings();
    assert.equal(first?.id, 'attachment/no-host-route');
    for (const command of first?.commands ?? []) lab.run(command);
    assert.deepEqual(await lab.findings(), []);
  });

  test('what all containers of a network suffer from is told once', async () => {
    using lab = new DoctorLab();
    const list = lab.podnet();
    for (const id of ['c1', 'c2', 'c3', 'c4', 'c5']) await lab.attach(list, id);
    lab.run('ip link set cni0 down');
    const findings = await lab.findings();
    assert.deepEqual(
      findings.map(({ id, subject, what }) => [id, subject, what]),
      [
        [
          'attachment/link-down',
          'network podnet',
          'cni0 on the node is down (c1 eth0 on podnet; 4 other attachments likewise)',
        ],
      ],
    );
  });

  for (const [family, name] of [
    ['IPv4', 'net.ipv4.ip_forward'],
    ['IPv6', 'net.ipv6.conf.all.forwarding'],
  ] as const) {
    test(`forwarding is off (${family})`, async () => {
      const [first] = await found((lab) => lab.run(`sysctl -qw ${name}=0`));
      assert.equal(first?.id, 'kernel/forwarding-off');
      assert.equal(first?.what, `${name} is 0`);
    });
  }

  test('the reverse path filter drops what containers send', async () => {
    const findings = await found((lab) => {
      lab.run('ip route add 10.45.0.2/32 dev eth0');
      lab.run('sysctl -qw net.ipv4.conf.cni0.rp_filter=1');
    });
    assert.deepEqual(findings.map(({ id }) => id).slice(0, 2), [
      'attachment/no-host-route',
      'kernel/rp-filter',
    ]);
  });

  test('the table of connections is full', async () => {
    const [first] = await found((lab) => {
      // Entries are to outlive the look of a machine that is busy.
      lab.run('sysctl -qw net.netfilter.nf_conntrack_udp_timeout=3600');
      lab.run(
        'nft',
        'add table inet t; add chain inet t c { type filter hook output priority 0; }; add rule inet t c ct state new accept',
      );
      const script = `
import socket
sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); sink.bind(('0.0.0.0', 9999))
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
most = int(open('/proc/sys/net/netfilter/nf_conntrack_max').read())
for n in range(int(most * 0.95)): out.sendto(b'', ('127.%d.%d.%d' % (n >> 16, n >> 8 & 255, n & 255), 9999))
`;
      lab.run('python3', '-c', script);
    });
    assert.equal(first?.id, 'kernel/conntrack-full');
    assert.match(first?.what ?? '', /of \d+ connections are tracked \(9\d %\)/);
  });
});

describe('filters and translation', () => {
  const drops: readonly (readonly [who: string, rules: readonly string[], where: RegExp])[] = [
    [
      'Docker',
      ['iptables -P FORWARD DROP', 'iptables -N DOCKER-USER', 'iptables -A FORWARD -j DOCKER-USER'],
      /chain ip filter FORWARD, by its policy/,
    ],
    [
      'ufw',
      [
        'iptables -N ufw-reject-forward',
        'iptables -A FORWARD -j ufw-reject-forward',
        'iptables -A ufw-reject-forward -j DROP',
      ],
      /ufw-reject-forward, by rule/,
    ],
    [
      'firewalld',
      [
        'nft add table inet firewalld',
        'nft add chain inet firewalld filter_FORWARD { type filter hook forward priority 10 ; }',
        'nft add rule inet firewalld filter_FORWARD reject with icmpx admin-prohibited',
      ],
      /chain inet firewalld filter_FORWARD, by rule/,
    ],
  ];
  for (const [who, rules, where] of drops) {
    test(`${who} drops what containers send`, { skip: missing('iptables') }, async () => {
      const [first] = await found((lab) => {
        for (const rule of rules)
          lab.run(
            'sh',
            '-c',
            rule.replace(/\{.*\}/, (braces) => `'${braces}'`),
          );
      });
      assert.equal(first?.id, 'firewall/drops');
      assert.match(first?.what ?? '', new RegExp(`^${who} drops packets of the container`));
      assert.match(first?.evidence?.join() ?? '', where);
    });
  }

  const policies: readonly (readonly [whose: string, setting: readonly string[]])[] = [
    ['the policy of iptables', ['iptables -P FORWARD DROP']],
    [
      "a table of one's own",
      [
        'nft add table inet mine',
        "nft add chain inet mine fw '{ type filter hook forward priority 0; policy drop; }'",
      ],
    ],
  ];
  for (const [whose, setting] of policies) {
    test(`what is said to mend ${whose} does`, { skip: missing('iptables') }, async () => {
      using lab = new DoctorLab();
      await lab.attach(lab.podnet(), 'c1');
      for (const command of setting) lab.run('sh', '-c', command);
      const [first] = await lab.findings();
      assert.equal(first?.id, 'firewall/drops');
      assert.match(first?.what ?? '', /^the policy of chain (ip filter FORWARD|inet mine fw) drops packets/);
      for (const command of first?.commands ?? []) lab.run(command);
      assert.deepEqual(await lab.findings(), [], first?.remedy);
    });
  }

  test('legacy iptables drops what containers send', { skip: missing('iptables-legacy') }, async () => {
    const [first] = await found((lab) => lab.run('iptables-legacy -P FORWARD DROP'));
    assert.equal(first?.id, 'firewall/drops');
    assert.match(first?.what ?? '', /^legacy iptables \(filter\) drops/);
  });

  test('a filter in front of the node drops what containers send', async () => {
    const [first] = await found((lab) => {
      lab.run('nft add table netdev guard');
      lab.run(
        'nft',
        `add chain netdev guard in { type filter hook ingress device ${hostVeth(lab)} priority 0; policy accept; }`,
      );
      lab.run('nft add rule netdev guard in icmp type echo-request drop');
    });
    assert.equal(first?.id, 'path/link');
  });

  test('packets leave with the address of the container, and nobody knows it', async () => {
    const [first] = await found(() => undefined, { bridge: { ipMasq: false } });
    assert.equal(first?.id, 'path/masquerade');
    assert.match(first?.what ?? '', /own address 10\.45\.0\.2, and are not answered; the node's own are/);
  });

  test('the same, after an earlier probe was answered', async () => {
    using lab = new DoctorLab();
    await lab.attach(lab.podnet(), 'c1');
    assert.deepEqual(await lab.findings(), []);
    lab.run('nft flush ruleset');
    const [first] = await lab.findings();
    assert.equal(first?.id, 'path/masquerade', first?.what);
  });

  test('the node has no route: it is the node that needs one', async () => {
    const nowhere = Addr.parse('203.0.113.9');
    const [first] = await found((lab) => lab.run('ip route del default'), { targets: [nowhere] });
    assert.equal(first?.id, 'path/route');
    assert.match(first?.remedy ?? '', /add a route to 203\.0\.113\.9 to this node/);
  });

  test('answers reach the node and not the container', async () => {
    const [first] = await found((lab) => {
      lab.run('nft add table ip late');
      lab.run('nft', 'add chain ip late post { type filter hook postrouting priority 50; policy accept; }');
      lab.run('nft add rule ip late post oifname cni0 icmp type echo-reply ip saddr 192.0.2.1 drop');
    });
    assert.ok(['firewall/drops', 'path/return'].includes(first?.id ?? ''), first?.id);
  });
});

describe('sizes', () => {
  const far = [Addr.parse('198.51.100.9')];

  /** Beyond the router packets must be smaller, and it keeps that to itself. */
  const narrow = (lab: DoctorLab) => {
    lab.router.run('ip link set up0 mtu 1400');
    lab.router.run('nft add table inet silent');
    lab.router.run('nft', 'add chain inet silent out { type filter hook output priority 0; policy accept; }');
    lab.router.run('nft add rule inet silent out icmp type destination-unreachable drop');
  };

  test('the way takes smaller packets than containers send, and nobody says so', async () => {
    const [first] = await found(narrow, { targets: far });
    assert.equal(first?.id, 'path/mtu-too-large');
    assert.match(
      first?.what ?? '',
      /packets of 1500 bytes to 198\.51\.100\.9 are lost without a word; 1400 bytes get there/,
    );
    assert.match(first?.remedy ?? '', /write "mtu": 1400 into the plugin bridge of network podnet, /);
  });

  test('where it is told, connections adapt, and nothing is found', async () => {
    const told = await found((lab) => lab.router.run('ip link set up0 mtu 1400'), { targets: far });
    assert.deepEqual(told, []);
  });

  test("the node's end takes smaller packets than the container's", async () => {
    const [first] = await found((lab) => lab.run(`ip link set ${hostVeth(lab)} mtu 1400`));
    assert.equal(first?.id, 'path/mtu-too-large');
    assert.match(first?.what ?? '', /eth0 has MTU 1500, and (veth\w+|cni0) on the node 1400/);
  });

  test('the way to the other end of a tunnel takes smaller packets than the tunnel makes', async () => {
    const tunnel = (lab: DoctorLab) => {
      lab.run('ip link add vx0 mtu 1450 type vxlan id 7 dstport 4789 local 192.0.2.10 dev eth0 nolearning');
      lab.run('ip link set vx0 up');
      lab.run('bridge fdb append 00:00:00:00:00:00 dev vx0 dst 198.51.100.9');
    };
    assert.deepEqual(await found(tunnel), []);
    const [first] = await found((lab) => {
      tunnel(lab);
      narrow(lab);
    });
    assert.equal(first?.id, 'path/mtu-too-large');
    assert.match(
      first?.what ?? '',
      /packets of 1500 bytes, as vx0 \(vxlan, MTU 1450\) makes them, get lost on the way to a peer; 1400 bytes/,
    );
    assert.match(first?.remedy ?? '', /give vx0 and the containers behind it an MTU of 1350/);
  });

  test('containers send smaller packets than they could', async () => {
    const findings = await found(() => undefined, { bridge: { mtu: 1280 } });
    assert.deepEqual(
      findings.map(({ id, severity }) => [id, severity]),
      [['path/mtu-too-small', 'note']],
    );
  });
});

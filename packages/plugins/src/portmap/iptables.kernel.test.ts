/**
 * The iptables backend beside the reference's portmap: the same rules to the letter, and either takes away what the
 * other added. Where the reference is not installed, what is left is compared with what it is known to leave.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, test } from 'node:test';
import { CNI_CODE, PluginError } from '@heddle/cni';
import { ProgramPath } from '@heddle/dataplane/testing';
import { PluginLab, ReferencePlugins, type TestNetns } from '../testing/index.ts';
import { portmap } from './index.ts';

const installed = ReferencePlugins.find();
const withReference = installed === undefined ? { skip: ReferencePlugins.ABSENT } : {};
const withLegacy = { skip: ProgramPath.NO_LEGACY };

/** portmap never looks into the container: any namespace but the host's will do. */
const netns = '/proc/self/ns/net';
const container = { id: 'c1', path: netns };
const prevResult = {
  cniVersion: '1.0.0',
  interfaces: [{ name: 'eth0', sandbox: '/run/netns/x' }],
  ips: [
    { address: '10.77.0.8/24', interface: 0 },
    { address: 'fd00::8/64', interface: 0 },
  ],
};
const mappings = [
  { hostPort: 8080, containerPort: 80, protocol: 'tcp' },
  { hostPort: 53, containerPort: 53, protocol: 'udp', hostIP: '10.9.9.9' },
  { hostPort: 54, containerPort: 53, protocol: 'udp', hostIP: '2001:db8::1' },
  { hostPort: 443, containerPort: 8443, protocol: 'tcp', hostIP: '0.0.0.0' },
];
const request = (more: object = {}, portMappings: readonly object[] = mappings) => ({
  config: {
    ...{
      type: 'portmap',
      name: 'n1',
      cniVersion: '1.0.0',
      backend: 'iptables',
      runtimeConfig: { portMappings },
    },
    ...more,
  },
  container,
  prevResult,
});

function newLab(): PluginLab {
  const lab = new PluginLab([portmap]);
  lab.host.run('ip', 'link', 'set', 'lo', 'up');
  return lab;
}

/** Both nat tables without what changes from call to call: dates and counters. */
function saved(host: TestNetns): string {
  const text = host.run('iptables-save', '-t', 'nat') + host.run('ip6tables-save', '-t', 'nat');
  return text.replace(/^#.*\n/gm, '').replace(/\[\d+:\d+\]/g, '[0:0]');
}

/** Runs the reference's portmap in the lab's host. That of Debian 12 does not know `backend`. */
function reference(
  host: TestNetns,
  command: 'ADD' | 'DEL',
  { config, ...rest }: ReturnType<typeof request>,
): void {
  const { backend: _, ...known } = config;
  installed?.run(host, { ...rest, command, config: known });
}

describe('the rules', () => {
  for (const more of [
    {},
    { snat: false },
    { markMasqBit: 3 },
    {
      conditionsV4: ['!', '-d', '192.0.2.9'],
      conditionsV6: ['-m', 'comment', '--comment', 'say "hi" to \\ all'],
    },
  ]) {
    test(`are those of the reference: ${JSON.stringify(more)}`, withReference, async () => {
      using ours = newLab();
      using theirs = newLab();
      await ours.add(request(more));
      reference(theirs.host, 'ADD', request(more));
      assert.equal(saved(ours.host), saved(theirs.host));
      await ours.check(request(more));
      await theirs.check(request(more));
      await ours.del(request(more));
      reference(theirs.host, 'DEL', request(more));
      assert.equal(saved(ours.host), saved(theirs.host));
    });
  }

  test('are those of the reference with a chain of someone else', withReference, async () => {
    using ours = newLab();
    using theirs = newLab();
    const more = { externalSetMarkChain: 'KUBE-MARK-MASQ' };
    for (const { host } of [ours, theirs]) {
      for (const program of ['iptables', 'ip6tables']) host.run(program, '-t', 'nat', '-N', 'KUBE-MARK-MASQ');
    }
    await ours.add(request(more));
    reference(theirs.host, 'ADD', request(more));
    assert.equal(saved(ours.host), saved(theirs.host));
  });

  test('are written once, however often', async () => {
    using lab = newLab();
    await lab.add(request());
    const once = saved(lab.host);
    await lab.add(request());
    assert.equal(saved(lab.host), once);
    assert.match(once, /^-A CNI-HOSTPORT-DNAT -p tcp .*--dports 8080,443 -j CNI-DN-7be53730afe4dc6eb2178$/m);
  });

  test('with masqAll mark whatever comes, and CHECK finds them', async () => {
    using lab = newLab();
    const more = { masqAll: true };
    await lab.add(request(more));
    assert.match(saved(lab.host), /^-A CNI-DN-\w+ -p tcp -m tcp --dport 8080 -j CNI-HOSTPORT-SETMARK$/m);
    await lab.check(request(more));
    const once = saved(lab.host);
    await lab.add(request(more));
    assert.equal(saved(lab.host), once);
  });

  test('are written without a process where iptables is of the kind nft', async () => {
    using lab = newLab();
    using path = ProgramPath.unused();
    await lab.add(request());
    await lab.check(request());
    await lab.del(request());
    assert.equal(path.wasUsed, false);
  });

  test('are written by iptables where only that understands their conditions', async () => {
    using lab = newLab();
    const more = { conditionsV4: ['-m', 'limit', '--limit', '7/sec'] };
    await lab.add(request(more));
    assert.match(saved(lab.host), /^-A CNI-HOSTPORT-DNAT .* -m limit --limit 7\/sec -j CNI-DN-/m);
    await lab.del(request(more));
    assert.doesNotMatch(saved(lab.host), /CNI-DN-/);
  });

  test('are missed when one goes', async () => {
    using lab = newLab();
    await lab.add(request());
    lab.host.run('iptables', '-t', 'nat', '-F', 'CNI-HOSTPORT-MASQ');
    await assert.rejects(
      () => lab.check(request()),
      (error) =>
        error instanceof PluginError &&
        error.cniCode === CNI_CODE.DRIFT &&
        /missing IPv4 nat rule -A CNI-HOSTPORT-MASQ -m mark --mark 0x2000\/0x2000 -j MASQUERADE$/.test(
          error.message,
        ),
    );
    await lab.add(request());
    await lab.check(request());
  });
});

describe('take-over', () => {
  test('ADD by the reference, DEL by ours, with either backend configured', withReference, async () => {
    for (const backend of ['iptables', 'nftables']) {
      using lab = newLab();
      reference(lab.host, 'ADD', request());
      reference(lab.host, 'DEL', request());
      const empty = saved(lab.host);
      reference(lab.host, 'ADD', request());
      await lab.del({ ...request({ backend, runtimeConfig: {} }), prevResult: undefined });
      assert.equal(saved(lab.host), empty);
    }
  });

  test('ADD by ours, DEL by the reference', withReference, async () => {
    using lab = newLab();
    await lab.add(request());
    await lab.del(request());
    const empty = saved(lab.host);
    await lab.add(request());
    reference(lab.host, 'DEL', request());
    assert.equal(saved(lab.host), empty);
  });

  test('rules of the nftables backend of newer reference plugins go with a DEL', async () => {
    using lab = newLab();
    const rules = (id: string) => [
      `add rule ip cni_hostport hostports tcp dport 8080 dnat to 10.77.0.8:80 comment "${id}"`,
      `add rule ip cni_hostport masquerading ip saddr 10.77.0.8 ip daddr 10.77.0.8 masquerade comment "${id}"`,
      `add rule ip6 cni_hostport hostports tcp dport 8080 dnat to [fd00::8]:80 comment "${id}"`,
    ];
    nft(lab.host, [
      ...['ip', 'ip6'].flatMap((family) => [
        `add table ${family} cni_hostport`,
        `add chain ${family} cni_hostport hostports`,
        `add chain ${family} cni_hostport masquerading { type nat hook postrouting priority 100 ; }`,
      ]),
      ...rules('c1'),
      ...rules('c10'),
    ]);
    await lab.del(request());
    const listing = lab.host.run('nft', 'list', 'ruleset');
    assert.doesNotMatch(listing, /"c1"/);
    assert.equal(listing.match(/"c10"/g)?.length, 3);
  });

  test('the legacy kind of iptables', withLegacy, async () => {
    using lab = newLab();
    const legacy = () =>
      lab.host.run('iptables-legacy-save', '-t', 'nat').match(/^-A CNI-DN-/gm)?.length ?? 0;
    {
      using _path = ProgramPath.legacy();
      await lab.add(request());
      await lab.check(request());
      assert.equal(legacy(), 9);
      assert.equal(lab.host.run('nft', 'list', 'ruleset'), '');
    }
    // What the names in PATH mean by now does not matter.
    await lab.del(request({ backend: 'nftables' }));
    assert.equal(legacy(), 0);
  });

  test('a DEL that has nothing to do starts no process', async () => {
    using lab = newLab();
    using _path = ProgramPath.empty();
    await lab.del(request());
  });

  test('what the nftables backend published goes when iptables takes over, and the reverse', async () => {
    using lab = newLab();
    await lab.add(request({ backend: 'nftables' }));
    await lab.add(request());
    assert.doesNotMatch(lab.host.run('nft', 'list', 'table', 'inet', 'heddle'), /8080/);
    await lab.del(request({ backend: 'nftables' }));
    assert.doesNotMatch(saved(lab.host), /CNI-DN/);
  });
});

describe('many at once', () => {
  const number = Array.from({ length: 32 }, (_, n) => n + 1);
  const each = (n: number) => ({
    ...request({}, [{ hostPort: 9000 + n, containerPort: 80, protocol: 'tcp' }]),
    container: { id: `p${n}`, path: netns },
    prevResult: { cniVersion: '1.0.0', ips: [{ address: `10.77.0.${n + 1}/24` }] },
  });

  for (const kind of ['nf_tables', 'legacy']) {
    const options = kind === 'legacy' ? withLegacy : {};
    test(`all succeed, and every shared rule is there once: ${kind}`, options, async () => {
      using _path = kind === 'legacy' ? ProgramPath.legacy() : undefined;
      using lab = newLab();
      for (let round = 0; round < 2; round++) {
        const holder = spawn('flock', ['/run/xtables.lock', 'sleep', '1']);
        await Promise.all(number.map((n) => lab.add(each(n))));
        holder.kill();
        const text = lab.host.run('iptables-save', '-t', 'nat');
        for (const rule of [
          /^-A PREROUTING /gm,
          /^-A OUTPUT /gm,
          /^-A POSTROUTING /gm,
          /^-A CNI-HOSTPORT-MASQ /gm,
        ]) {
          assert.equal(text.match(rule)?.length, 1);
        }
        assert.equal(text.match(/^-A CNI-HOSTPORT-DNAT /gm)?.length, 32);
        await Promise.all(number.map((n) => lab.del(each(n))));
        assert.doesNotMatch(lab.host.run('iptables-save', '-t', 'nat'), /CNI-DN/);
        lab.host.run('iptables', '-t', 'nat', '-F');
        lab.host.run('iptables', '-t', 'nat', '-X');
      }
    });
  }
});

test('GC takes the chains of containers that are stale, of its own network', async () => {
  using lab = newLab();
  const add = (id: string, name: string, n: number) =>
    lab.add({
      ...request({ name }, [{ hostPort: 9000 + n, containerPort: 80, protocol: 'tcp' }]),
      container: { id, path: netns },
      prevResult: { cniVersion: '1.0.0', ips: [{ address: `10.77.0.${n}/24` }] },
    });
  await add('live', 'n1', 2);
  await add('stale', 'n1', 3);
  await add('other', 'n2', 4);
  const config = { ...request().config, cniVersion: '1.1.0' };
  await lab.gc(config, [{ containerID: 'live', ifname: 'eth0' }]);
  const ids = [...saved(lab.host).matchAll(/id: \\"(\w+)\\"/g)].map(([, id]) => id);
  assert.deepEqual(ids, ['live', 'other']);
});

function nft(host: TestNetns, lines: readonly string[]): void {
  for (const line of lines) host.run('nft', line);
}

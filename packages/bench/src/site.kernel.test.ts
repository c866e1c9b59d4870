/** The driver's honesty: what does not work is told, and nothing gets out of the node. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { parseNetworkList } from '@heddle/cni';
import { BenchError } from './bench-error.ts';
import { measureNetwork } from './measure.ts';
import { type Batch, type Patience, Site } from './site.ts';
import { seeded } from './statistics.ts';
import { DEFAULT_WORKLOAD } from './workload.ts';

const root = mkdtempSync(join(tmpdir(), 'heddle-bench-'));
after(() => rmSync(root, { recursive: true }));

const list = parseNetworkList(
  Buffer.from(JSON.stringify({ cniVersion: '1.0.0', name: 'trial', plugins: [{ type: 'trial' }] })),
);

/** Plugins that are one shell script. */
function plugins(script: string): string {
  const directory = mkdtempSync(join(root, 'bin-'));
  writeFileSync(join(directory, 'trial'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(directory, 'trial'), 0o755);
  return directory;
}

/** What must work has longer than a busy machine takes. */
const PATIENCE = { call: 60_000, packet: 20_000 } as const;
/** What must not is waited for in vain. */
const SHORT = { call: 60_000, packet: 1000 } as const;

async function open(script: string, patience: Patience = PATIENCE): Promise<Site> {
  const contender = { name: 'trial', directory: plugins(script) };
  return await Site.open(contender, list, { ports: 0, patience });
}

async function add(site: Site, count = 1, probes: readonly string[] = []): Promise<Batch> {
  return await site.run('ADD', await site.pods.make(count), { parallel: count, probes });
}

/**
 * A pair of interfaces by which the pod reaches 192.0.2.1 and 2001:db8::1 on the node. ADD ends when the kernel has come to
 * all of it, which takes a busy one a while.
 */
const WIRED = `
has() { wanted="$1"; shift; until ip "$@" | grep -q "$wanted"; do sleep 0.01; done; }
name="h\${CNI_CONTAINERID##*pod}" pod="\${CNI_NETNS##*/}"
case $CNI_COMMAND in
ADD)
  ip link add "$name" type veth peer name eth0 netns "$pod"
  ip address add 192.0.2.1/24 dev "$name"
  ip address add 2001:db8::1/64 dev "$name" nodad
  ip link set "$name" up
  ip -n "$pod" link set eth0 up
  ip -n "$pod" address add 192.0.2.2/24 dev eth0
  ip -n "$pod" address add 2001:db8::2/64 dev eth0 nodad
  has 'state UP' -o link show "$name"
  has 'state UP' -n "$pod" -o link show eth0
  has 2001:db8::1 -6 route show table local
  has 2001:db8::2 -n "$pod" -6 route show table local
  echo '{"cniVersion": "1.0.0", "ips": [
    {"address": "192.0.2.2/24", "gateway": "192.0.2.1"}, {"address": "2001:db8::2/64", "gateway": "2001:db8::1"}]}' ;;
DEL) ip link del "$name" ;;
VERSION) echo '{"cniVersion": "1.0.0", "supportedVersions": ["1.0.0"]}' ;;
esac`;

const RESULT = `echo '{"cniVersion": "1.0.0"}'`;
const BOTH = ['192.0.2.1', '2001:db8::1'];

describe('an attachment', () => {
  test('that works counts, with the arrival of its first packets of both families', async () => {
    await using site = await open(WIRED);
    const { attempts } = await add(site, 1, BOTH);
    assert.equal(attempts[0]?.failure, undefined);
    assert.equal(attempts[0]?.outcome.arrivals.length, 2);
    assert.ok((attempts[0]?.milliseconds ?? 0) > 0.5);
    const [pod] = attempts.map((each) => each.pod);
    assert.ok(pod?.result !== undefined);
    const removed = await site.run('DEL', [pod], { parallel: 1, probes: [] });
    assert.equal(removed.attempts[0]?.failure, undefined);
  });

  test('whose packets do not arrive does not count', async () => {
    await using site = await open(`${WIRED}\n[ $CNI_COMMAND != ADD ] || ip link set "$name" down`, SHORT);
    const { attempts } = await add(site, 1, BOTH);
    assert.match(
      attempts[0]?.failure ?? '',
      /^first packet to 192\.0\.2\.1 lost \(\w+\), first packet to 2001:db8::1 lost \(\w+\)$/,
    );
  });

  test('whose IPv6 address cannot be used yet does not count', async () => {
    const tentative = WIRED.replace('2001:db8::2/64 dev eth0 nodad', '2001:db8::2/64 dev eth0');
    await using site = await open(tentative.replace(/ {2}has 2001:db8::2 .*\n/, ''), SHORT);
    const { attempts } = await add(site, 1, BOTH);
    assert.match(attempts[0]?.failure ?? '', /^first packet to 2001:db8::1 lost \(\w+\)$/);
  });

  const failing: readonly (readonly [what: string, script: string, reason: RegExp])[] = [
    ['that was only claimed', RESULT, /^the pod has no interface$/],
    ['that fails', 'echo \'{"code": 7, "msg": "not today"}\'; exit 1', /^trial: exit code 1: not today$/],
    ['that fails in silence', 'echo why >&2; exit 3', /^trial: exit code 3: why$/],
    ['that prints garbage', 'echo done', /^garbage on stdout: /],
    ['that hangs', 'sleep 600', /^trial: killed: it did not end in time$/],
    [
      'that leaves a process with its stdout',
      `sleep 600 & ${RESULT}`,
      /^trial: killed: it did not end in time$/,
    ],
    [
      'that closes its stdout and hangs',
      'exec >&- 2>&-; sleep 600',
      /^trial: killed: it did not end in time$/,
    ],
    ['that crashes', 'kill -SEGV $$', /^trial: ended by signal 11$/],
    [
      'that changes the machine',
      `touch /etc/heddle-bench-was-here || exit 9; ${RESULT}`,
      /^trial: exit code 9: .*Read-only/,
    ],
  ];
  for (const [what, script, reason] of failing) {
    test(`${what} does not count`, async () => {
      await using site = await open(script, { call: 5000, packet: 1000 });
      const { attempts } = await add(site);
      assert.match(attempts[0]?.failure ?? 'it counted', reason);
    });
  }

  test('by a plugin that cannot be executed does not count', async () => {
    await using site = await open('');
    writeFileSync(join(site.contender.directory, 'trial'), '#!/does/not/exist\n');
    const { attempts } = await add(site);
    assert.equal(attempts[0]?.failure, 'trial: cannot be executed (ENOENT)');
  });

  test('of one pod in a batch fails alone', async () => {
    await using site = await open(`case $CNI_CONTAINERID in *pod1) exit 1;; esac\n${WIRED}`);
    const { attempts } = await add(site, 3);
    assert.deepEqual(
      attempts.map(({ failure }) => failure),
      [undefined, 'trial: exit code 1: no reason given', undefined],
    );
  });
});

test('a detachment that leaves the interface does not count', async () => {
  await using site = await open(`[ $CNI_COMMAND != DEL ] || exit 0\n${WIRED}`);
  const { attempts } = await add(site);
  const { attempts: removed } = await site.run('DEL', [attempts[0]?.pod ?? assert.fail()], {
    parallel: 1,
    probes: [],
  });
  assert.equal(removed[0]?.failure, 'the pod still has its interface');
});

test('calls overlap as far as they were told to, and no farther', async () => {
  await using site = await open(`sleep 0.2; ${RESULT}`);
  const pods = await site.pods.make(4);
  for (const [parallel, most] of [
    [1, 1],
    [2, 2],
    [4, 4],
  ] as const) {
    const { attempts } = await site.run('CHECK', pods, { parallel, probes: [] });
    const steps = attempts.flatMap(({ outcome }) => outcome.steps);
    const overlaps = steps.map(
      ({ began }) =>
        steps.filter((other) => other.began <= began && began < other.began + other.milliseconds).length,
    );
    assert.equal(Math.max(...overlaps), most);
    for (const { milliseconds } of steps) assert.ok(milliseconds >= 200, `${milliseconds}`);
  }
});

test('large inputs, outputs and unread inputs are no trouble', async () => {
  const big = {
    ...list,
    plugins: [{ ...list.plugins[0], raw: { type: 'trial', padding: 'x'.repeat(300_000) } }],
  };
  const scripts = ['cat >&2; head -c 300000 /dev/zero | tr "\\0" x', 'echo "{}"; exit 0'];
  for (const script of scripts) {
    const contender = { name: 'trial', directory: plugins(script) };
    await using site = await Site.open(contender, big as typeof list, {
      ports: 0,
      patience: { call: 5000, packet: 1 },
    });
    const { attempts } = await site.run('CHECK', await site.pods.make(1), { parallel: 1, probes: [] });
    assert.equal(attempts[0]?.failure, undefined);
  }
});

describe('a node', () => {
  test('is gone with everything in it, and has left nothing', async () => {
    const site = await open(`(sleep 600 >/dev/null 2>&1 &) ; touch /run/mine /var/lib/mine; ${RESULT}`);
    await add(site);
    const firstProcess = dirname(site.node.root);
    assert.ok(existsSync(join(site.node.root, 'run/mine')));
    assert.ok(!existsSync('/run/mine') && !existsSync('/var/lib/mine'));
    await site[Symbol.asyncDispose]();
    assert.ok(!existsSync(firstProcess), 'the node is still there');
  });

  test('that is killed is told of, whether something was asked or not', async () => {
    await using site = await open('sleep 60');
    const firstProcess = Number(dirname(site.node.root).slice('/proc/'.length));
    const pods = await site.pods.make(1);
    const asked = site.run('CHECK', pods, { parallel: 1, probes: [] });
    process.kill(firstProcess, 'SIGKILL');
    await assert.rejects(asked, /^BenchError: the driver has ended: it is gone$/);
    await assert.rejects(site.pods.make(1), /^BenchError: the driver has ended: it is gone$/);
  });

  test('sees no interface but its own', async () => {
    await using site = await open('ls /sys/class/net >&2; exit 1');
    const { attempts } = await add(site);
    assert.equal(attempts[0]?.failure, 'trial: exit code 1: lo');
  });

  test('without a plugin of the network is refused', async () => {
    const contender = { name: 'left', directory: mkdtempSync(join(root, 'empty-')) };
    await assert.rejects(
      Site.open(contender, list, { ports: 0, patience: { call: 1, packet: 1 } }),
      new RegExp(`^BenchError: left: there is no plugin trial in ${contender.directory}$`),
    );
  });

  test('whose agent does not serve is given up, with what the agent said', async () => {
    const directory = plugins(WIRED);
    const agent = {
      program: '/bin/sh',
      args: ['-c', 'echo no disk; exit 1'],
      env: {},
      needs: [],
      readyPath: '/run/a',
    };
    await assert.rejects(
      Site.open({ name: 'left', directory, agent }, list, { ports: 0, patience: { call: 1, packet: 1 } }),
      (error) => error instanceof BenchError && /it does not serve: no disk/.test(error.message),
    );
  });
});

describe('a measurement', () => {
  // Longer than a busy machine takes, as what is not lost has to arrive.
  const quick = { ...DEFAULT_WORKLOAD, rounds: 2, warmup: 0, packetPatience: 5000 };

  test('asks for packets to the gateways of the node, and says of which it does not', async () => {
    const elsewhere = WIRED.replaceAll('"gateway": "2001:db8::1"', '"gateway": "2001:db8::77"');
    const report = await measureNetwork(
      list,
      [{ contender: { name: 'one', directory: plugins(elsewhere) } }],
      quick,
      { random: seeded(1) },
    );
    assert.deepEqual(report.probes, ['192.0.2.1']);
    assert.deepEqual(report.notes, ["no contender's first packet reached 2001:db8::77: it is not asked for"]);
  });

  test('counts only what works, and tells the rest', async () => {
    const lossy = `${WIRED}\ncase $CNI_COMMAND$CNI_CONTAINERID in ADD*pod3) ip link set "$name" down;; esac`;
    const report = await measureNetwork(
      list,
      [WIRED, lossy].map((script, index) => ({
        contender: { name: `${index}`, directory: plugins(script) },
      })),
      quick,
      { random: seeded(1) },
    );
    const added = report.measurements.filter(({ verb }) => verb === 'ADD');
    assert.deepEqual(
      added.map(({ latency }) => latency.count),
      [2, 1],
    );
    assert.match(Object.keys(added[1]?.failures ?? {})[0] ?? '', /^first packet to 192\.0\.2\.1 lost/);
    assert.ok(added[1]?.comparison !== undefined);
  });

  test('of plugins that cannot attach at all is refused', async () => {
    await assert.rejects(
      measureNetwork(list, [{ contender: { name: 'one', directory: plugins('exit 1') } }], quick, {
        random: seeded(1),
      }),
      /^BenchError: one: ADD: trial: exit code 1: no reason given$/,
    );
  });
});

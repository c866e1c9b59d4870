/** The firewall with iptables, verb by verb. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CNI_CODE, PluginError } from '@heddle/cni';
import { FirewallLab, rulesIn, saved } from './testing.ts';

const drift = (text: RegExp) => (error: unknown) =>
  error instanceof PluginError && error.cniCode === CNI_CODE.DRIFT && text.test(error.message);
const ofPod = [
  '-A CNI-FORWARD -d 10.1.2.5/32 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
  '-A CNI-FORWARD -s 10.1.2.5/32 -j ACCEPT',
];
const entry = '-A FORWARD -m comment --comment "CNI firewall plugin rules" -j CNI-FORWARD';
const admin = (chain: string) =>
  `-A CNI-FORWARD -m comment --comment "CNI firewall plugin admin overrides" -j ${chain}`;

describe('ADD', () => {
  test('accepts what the addresses send and what answers them, and passes the result on', async () => {
    using lab = new FirewallLab();
    const request = lab.request();
    const result = await lab.add(request);
    const { cniVersion: _, ...given } = request.prevResult as { cniVersion: string };
    const { cniVersion: __, ...passed } = result;
    assert.deepEqual(passed, given);
    assert.deepEqual(rulesIn(lab.host), [entry, admin('CNI-ADMIN'), ...ofPod]);
    assert.deepEqual(
      rulesIn(lab.host, 6).slice(2),
      ofPod.map((rule) => rule.replace('10.1.2.5/32', 'fd01::5/128')),
    );
  });

  test('changes nothing when all is there', async () => {
    using lab = new FirewallLab();
    await lab.add(lab.request());
    const before = lab.hostState();
    await lab.add(lab.request());
    assert.equal(lab.hostState(), before);
  });

  test('goes in front of what others have in FORWARD, and behind nothing that they have in CNI-ADMIN', async () => {
    using lab = new FirewallLab();
    for (const rule of ['-P FORWARD DROP', '-A FORWARD -j DROP', '-N OPS', '-A OPS -s 10.1.2.9/32 -j DROP']) {
      lab.host.run(`iptables ${rule}`);
    }
    await lab.add(lab.request({ iptablesAdminChainName: 'OPS' }));
    assert.deepEqual(rulesIn(lab.host), [
      ...[entry, '-A FORWARD -j DROP', admin('OPS'), ...ofPod, '-A OPS -s 10.1.2.9/32 -j DROP'],
    ]);
    assert.match(saved(lab.host), /^:FORWARD DROP/m);
  });

  test('of a family without addresses makes nothing', async () => {
    using lab = new FirewallLab();
    await lab.add(lab.request({}, { ips: ['10.1.2.5/24'] }));
    assert.doesNotMatch(lab.host.run('nft list tables'), /ip6/);
  });

  test('again with another address moves over to it', async () => {
    using lab = new FirewallLab();
    await lab.add(lab.request());
    await lab.add(lab.request({}, { ips: ['10.1.2.6/24'] }));
    assert.deepEqual(
      rulesIn(lab.host).slice(2),
      ofPod.map((rule) => rule.replace('10.1.2.5', '10.1.2.6')),
    );
    assert.doesNotMatch(saved(lab.host), /fd01::5/);
  });

  for (const [what, config, text] of [
    ['an unknown policy', { ingressPolicy: 'closed' }, /unknown ingress policy: "closed"/],
    ['a version without a result', { cniVersion: '0.3.1' }, /./],
  ] as const) {
    test(`${what} is refused, and nothing is left`, async () => {
      using lab = new FirewallLab();
      await assert.rejects(() => lab.add(lab.request(config)), text);
      assert.equal(lab.host.run('nft list ruleset'), '');
    });
  }

  test('without a previous result is refused', async () => {
    using lab = new FirewallLab();
    const { prevResult: _, ...request } = lab.request();
    await assert.rejects(
      () => lab.add(request),
      (error) => error instanceof PluginError && error.msg === 'missing prevResult from earlier plugin',
    );
  });

  test('that fails later leaves nothing that is the pod’s', async () => {
    using lab = new FirewallLab();
    await lab.add(lab.request());
    await lab.del(lab.request());
    const before = lab.hostState();
    const noIps = lab.request({ cniVersion: '0.4.0' });
    const { exitCode } = await lab.run({
      ...noIps,
      command: 'ADD',
      wrap: (session) =>
        new Proxy(session, {
          get: (target, name) => (name === 'nft' ? failing(target.nft) : Reflect.get(target, name, target)),
        }),
    });
    assert.equal(exitCode, 1);
    assert.equal(lab.hostState(), before);
  });
});

describe('DEL', () => {
  test('takes away the pod’s rules, and leaves what is shared, whatever it is told', async () => {
    for (const isTold of [true, false]) {
      using lab = new FirewallLab();
      const { prevResult } = isTold ? lab.request() : {};
      await lab.add(lab.request({}, { id: 'other', ips: ['10.1.2.6/24', 'fd01::6/64'] }));
      const before = lab.hostState();
      await lab.add(lab.request());
      await lab.del({ ...lab.request(), prevResult, netns: '' });
      assert.equal(lab.hostState(), before);
      await lab.del(lab.request());
    }
  });

  test('leaves an address to whoever has it now', async () => {
    using lab = new FirewallLab();
    await lab.add(lab.request());
    await lab.add(lab.request({}, { id: 'successor' }));
    await lab.del(lab.request());
    assert.deepEqual(rulesIn(lab.host).slice(2), ofPod);
    await lab.del(lab.request({}, { id: 'successor' }));
    assert.deepEqual(rulesIn(lab.host).slice(2), []);
  });

  test('leaves an address that a pod of another network has as well', async () => {
    using lab = new FirewallLab();
    await lab.add(lab.request());
    await lab.add(lab.request({ name: 'n2' }, { id: 'c2' }));
    await lab.del(lab.request({ name: 'n2' }, { id: 'c2' }));
    assert.deepEqual(rulesIn(lab.host).slice(2), ofPod);
    await lab.del(lab.request());
    assert.deepEqual(rulesIn(lab.host).slice(2), []);
  });

  test('starts with nothing, does nothing, and makes nothing', async () => {
    using lab = new FirewallLab();
    await lab.del(lab.request());
    await lab.del({ ...lab.request({ ingressPolicy: 'closed' }), prevResult: undefined });
    assert.equal(lab.host.run('nft list ruleset'), '');
  });

  test('ignores what others have in the chain', async () => {
    using lab = new FirewallLab();
    await lab.add(lab.request());
    lab.host.run('iptables -A CNI-FORWARD -s 10.1.2.5/32 -m limit --limit 7/sec -j ACCEPT');
    lab.host.run('iptables -A CNI-FORWARD -s 10.1.2.50/32 -j ACCEPT');
    await lab.del(lab.request());
    assert.equal(rulesIn(lab.host).length, 4);
  });
});

describe('CHECK', () => {
  test('is content with what ADD left', async () => {
    for (const ingressPolicy of ['open', 'same-bridge', 'isolated']) {
      using lab = new FirewallLab();
      await lab.add(lab.request({ ingressPolicy }));
      await lab.check(lab.request({ ingressPolicy }));
    }
  });

  for (const [change, text] of [
    ['iptables -D FORWARD 2', /-A FORWARD .* -j CNI-FORWARD$/],
    ['iptables -D CNI-FORWARD 1', /-A CNI-FORWARD .*admin overrides" -j CNI-ADMIN$/],
    [
      'ip6tables -D CNI-FORWARD -s fd01::5/128 -j ACCEPT',
      /IPv6 filter rule -A CNI-FORWARD -s fd01::5\/128 -j ACCEPT$/,
    ],
    ['iptables -D CNI-FORWARD 2', /-A CNI-FORWARD -d 10.1.2.5\/32 .* -j ACCEPT$/],
    ['iptables -D FORWARD 1', /-A FORWARD .* -j CNI-ISOLATION-STAGE-1$/],
    ['iptables -D CNI-ISOLATION-STAGE-1 1', /-A CNI-ISOLATION-STAGE-1 -i br0 -o br0 .* -j DROP$/],
    ['iptables -D CNI-ISOLATION-STAGE-2 1', /-A CNI-ISOLATION-STAGE-2 -o br0 .* -j DROP$/],
  ] as const) {
    test(`sees ${change}; ADD mends it`, async () => {
      using lab = new FirewallLab();
      const request = lab.request({ ingressPolicy: 'isolated' });
      await lab.add(request);
      const before = saved(lab.host).split('\n').toSorted();
      lab.host.run(change);
      await assert.rejects(() => lab.check(request), drift(text));
      await lab.add(request);
      await lab.check(request);
      assert.deepEqual(saved(lab.host).split('\n').toSorted(), before);
    });
  }

  test('makes nothing', async () => {
    using lab = new FirewallLab();
    await assert.rejects(() => lab.check(lab.request()), drift(/CNI-FORWARD/));
    assert.equal(lab.host.run('nft list ruleset'), '');
  });

  test('sees an isolation that comes too late; ADD mends it', async () => {
    using lab = new FirewallLab();
    const request = lab.request({ ingressPolicy: 'same-bridge' });
    await lab.add(request);
    lab.host.run('iptables -D FORWARD 2');
    const comment = ['-m', 'comment', '--comment', 'CNI firewall plugin rules'];
    lab.host.run('iptables', '-I', 'FORWARD', '1', ...comment, '-j', 'CNI-FORWARD');
    await assert.rejects(() => lab.check(request), drift(/behind the jump to CNI-FORWARD/));
    await lab.add(request);
    await lab.check(request);
    assert.equal(rulesIn(lab.host).filter((rule) => rule.startsWith('-A FORWARD')).length, 2);
  });
});

describe('GC', () => {
  test('closes the firewall for stale attachments of its network, and for no one else', async () => {
    using lab = new FirewallLab();
    const pods = { live: '10.1.2.5', stale: '10.1.2.6', gone: '10.1.2.7' };
    for (const [id, ip] of Object.entries(pods)) await lab.add(lab.request({}, { id, ips: [`${ip}/24`] }));
    await lab.add(lab.request({ name: 'n2' }, { id: 'other', ips: ['10.1.2.8/24'] }));
    await lab.add(lab.request({ name: 'n2' }, { id: 'same', ips: ['10.1.2.7/24'] }));
    lab.host.run('iptables -A CNI-FORWARD -s 10.1.2.9/32 -j ACCEPT');
    using _adding = lab.inflight.begin('nothing');
    await lab.gc({ ...lab.request().config, cniVersion: '1.1.0' }, [{ containerID: 'live', ifname: 'eth0' }]);
    const left = rulesIn(lab.host).flatMap((rule) => /-s ([\d.]+)/.exec(rule)?.[1] ?? []);
    assert.deepEqual(left.toSorted(), ['10.1.2.5', '10.1.2.7', '10.1.2.8', '10.1.2.9']);
    const records = lab.host.run('nft list set inet heddle firewall_owners4');
    assert.doesNotMatch(records, /id: (stale|gone)/);
  });
});

describe('STATUS', () => {
  test('is content, and makes nothing', async () => {
    using lab = new FirewallLab();
    for (const backend of ['iptables', 'nftables', '']) {
      await lab.status({ ...lab.request({ backend }).config, cniVersion: '1.1.0' });
    }
    assert.equal(lab.host.run('nft list ruleset'), '');
  });

  test('says what would fail', async () => {
    using lab = new FirewallLab();
    const config = { ...lab.request().config, cniVersion: '1.1.0' };
    await assert.rejects(() => lab.status({ ...config, ingressPolicy: 'closed' }), /unknown ingress policy/);
    await assert.rejects(
      () => lab.status({ ...config, backend: 'firewalld' }),
      (error) => error instanceof PluginError && error.cniCode === CNI_CODE.PLUGIN_NOT_AVAILABLE,
    );
  });
});

/** Does what it is told, and then says that it could not. */
function failing<T extends { commit(...args: never[]): Promise<void> }>(nft: T): T {
  let count = 0;
  return new Proxy(nft, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'commit') return value.bind(target);
      return async (...args: never[]) => {
        await target.commit(...args);
        if (count++ === 0) throw new Error('told to fail');
      };
    },
  });
}

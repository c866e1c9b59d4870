/** The firewall and the two kinds of iptables; and many pods at once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { ProgramPath } from '@heddle/dataplane/testing';
import { runInNetns } from '@heddle/sys';
import { Sabotage } from '../testing/index.ts';
import { FirewallLab, rulesIn, saved } from './testing.ts';

describe('the kind nft', () => {
  test('needs no process for any verb', async () => {
    using lab = new FirewallLab();
    {
      using path = ProgramPath.unused();
      const request = lab.request({ ingressPolicy: 'isolated', cniVersion: '1.1.0' });
      await lab.add(request);
      await lab.check(request);
      await lab.status(request.config);
      await lab.del(request);
      await lab.add(request);
      await lab.gc(request.config, []);
      assert.equal(path.wasUsed, false);
    }
    assert.equal(rulesIn(lab.host).filter((rule) => rule.includes('10.1.2.5')).length, 0);
    assert.equal(rulesIn(lab.host).length, 8);
  });

  test('is known behind a script', async () => {
    using lab = new FirewallLab();
    {
      using _path = ProgramPath.wrapper();
      await lab.add(lab.request());
    }
    assert.equal(rulesIn(lab.host).length, 4);
    assert.match(lab.host.run('nft list set inet heddle firewall_owners4'), /id: c1/);
  });

  test('is what a node without iptables has', async () => {
    using lab = new FirewallLab();
    {
      using _path = ProgramPath.empty();
      await lab.add(lab.request());
      await lab.check(lab.request());
    }
    assert.equal(rulesIn(lab.host).length, 4);
  });
});

describe('the kind legacy', { skip: ProgramPath.NO_LEGACY }, () => {
  for (const ingressPolicy of ['open', 'isolated']) {
    test(`has the same rules: ${ingressPolicy}`, async () => {
      using legacy = new FirewallLab();
      using nft = new FirewallLab();
      await nft.add(nft.request({ ingressPolicy }));
      {
        using _path = ProgramPath.legacy();
        await legacy.add(legacy.request({ ingressPolicy }));
        await legacy.add(legacy.request({ ingressPolicy }));
        await legacy.check(legacy.request({ ingressPolicy }));
        await legacy.status({ ...legacy.request().config, cniVersion: '1.1.0' });
      }
      assert.equal(saved(legacy.host, '-legacy'), saved(nft.host));
      assert.doesNotMatch(legacy.host.run('nft list ruleset'), /CNI-FORWARD/);
    });
  }

  test('is emptied by DEL and GC, whatever the names in PATH mean by then', async () => {
    using lab = new FirewallLab();
    const request = lab.request({ cniVersion: '1.1.0' });
    for (const close of [
      () => lab.del({ ...request, prevResult: undefined }),
      () => lab.gc(request.config, []),
    ]) {
      {
        using _path = ProgramPath.legacy();
        await lab.add(request);
      }
      await close();
      assert.doesNotMatch(saved(lab.host, '-legacy'), /ACCEPT$/m);
      assert.doesNotMatch(lab.host.run('nft list ruleset'), /c1/);
    }
  });

  test('without its programs is an error, for a rule elsewhere would not be asked', async () => {
    using lab = new FirewallLab();
    lab.host.run('iptables-legacy -P FORWARD DROP');
    using _path = ProgramPath.empty();
    await assert.rejects(
      () => lab.add(lab.request()),
      /the node has tables of legacy iptables, but no iptables in PATH/,
    );
  });
});

describe('many pods at once (containernetworking/plugins#335)', () => {
  const numbers = Array.from({ length: 32 }, (_, at) => at + 2);

  for (const kind of ['nft', 'legacy']) {
    const skip = kind === 'legacy' && ProgramPath.NO_LEGACY;
    test(`all succeed, and what they share is there once: ${kind}`, { skip }, async () => {
      using lab = new FirewallLab();
      using _path = kind === 'legacy' ? ProgramPath.legacy() : undefined;
      const request = (n: number) =>
        lab.request({ ingressPolicy: 'same-bridge' }, { id: `p${n}`, ips: [`10.1.2.${n}/24`] });
      for (let round = 0; round < 2; round++) {
        const holder = spawn('flock', ['/run/xtables.lock', 'sleep', '1']);
        await Promise.all(numbers.map((n) => lab.add(request(n))));
        holder.kill();
        const rules = rulesIn(lab.host);
        assert.equal(rules.filter((rule) => rule.startsWith('-A FORWARD')).length, 2);
        assert.equal(rules.filter((rule) => rule.startsWith('-A CNI-ISOLATION')).length, 4);
        assert.equal(rules.filter((rule) => rule.startsWith('-A CNI-FORWARD')).length, 65);
        await Promise.all(numbers.map((n) => lab.del(request(n))));
        assert.equal(rulesIn(lab.host).length, 7);
        for (const program of ['iptables -F', 'iptables -X']) lab.host.run(program);
      }
    });
  }

  test('nothing is lost while iptables itself changes the same table', async () => {
    using lab = new FirewallLab();
    const request = (n: number) => lab.request({}, { id: `p${n}`, ips: [`10.1.2.${n}/24`] });
    const loop =
      'i=0; while [ $i -lt 40 ]; do iptables -A FORWARD -s 192.0.2.$i/32 -j DROP || exit 1; i=$((i+1)); done';
    const other = runInNetns(lab.host.handle, () => spawn('sh', ['-c', loop], { stdio: 'ignore' }));
    const ended = once(other, 'exit');
    for (const n of numbers) {
      await lab.add(request(n));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(await ended, [0, null]);
    const rules = rulesIn(lab.host);
    assert.equal(rules.filter((rule) => rule.startsWith('-A FORWARD')).length, 41);
    assert.equal(rules.filter((rule) => rule.startsWith('-A CNI-FORWARD')).length, 65);
  });
});

describe('an ADD that fails at any request', () => {
  for (const backend of ['iptables', 'nftables']) {
    test(`leaves nothing: ${backend}`, async () => {
      using lab = new FirewallLab();
      const request = lab.request({ backend, ingressPolicy: 'isolated' });
      await lab.add(request);
      await lab.del(request);
      const before = lab.hostState();
      for (let at = 1; ; at++) {
        const sabotage = new Sabotage(at);
        const { exitCode } = await lab.run({
          ...{ ...request, command: 'ADD' },
          wrap: (session) => sabotage.wrap(session),
        });
        if (sabotage.failed === undefined) {
          assert.equal(exitCode, 0);
          break;
        }
        assert.equal(exitCode, 1);
        assert.equal(lab.hostState(), before, `after ${sabotage.failed}`);
      }
      await lab.del(request);
      assert.equal(lab.hostState(), before);
    });
  }
});

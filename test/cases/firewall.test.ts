/** Reports about the firewall: what pods share in the tables of iptables. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import type { JsonObject, NetworkConfigList } from '@heddle/cni';
import { missing } from '../support/programs.ts';
import { CaseNode } from './case-node.ts';

/** Bridge, portmap and firewall, the latter two by iptables. */
function networkOn(node: CaseNode): NetworkConfigList {
  const ipam = { type: 'host-local', ranges: [[{ subnet: '192.0.2.0/24' }], [{ subnet: '2001:db8::/64' }]] };
  return node.list('br', [
    {
      type: 'bridge',
      bridge: 'hdcase0',
      isDefaultGateway: true,
      ipMasq: true,
      ipMasqBackend: 'iptables',
      ipam,
    },
    { type: 'portmap', backend: 'iptables', capabilities: { portMappings: true } },
    { type: 'firewall', backend: 'iptables', ingressPolicy: 'same-bridge' },
  ]);
}

function published(hostPort: number): { readonly capabilityArgs: JsonObject } {
  return { capabilityArgs: { portMappings: [{ hostPort, containerPort: 80, protocol: 'tcp' }] } };
}

test('containernetworking/plugins#335: many first ADDs at once share chains of bridge, portmap and firewall', {
  skip: missing('iptables'),
}, async () => {
  using node = new CaseNode();
  const network = networkOn(node);
  const before = await node.settled(network, published(9000));
  // A round with nothing there, after one that made everything.
  node.run('nft flush ruleset');
  const lock = spawn('flock', ['/run/xtables.lock', 'sleep', '3']);
  const pods = Array.from({ length: 32 }, (_, index) => node.pod(`c${index}`, published(9000 + index)));
  await Promise.all([...pods.map((pod) => node.cni.add(network, pod.attachment)), once(lock, 'exit')]);
  for (const program of ['iptables', 'ip6tables']) {
    const jumps = (table: string) =>
      node
        .run(program, '-t', table, '-S')
        .split('\n')
        .filter((line) =>
          /^-A (PREROUTING|OUTPUT|FORWARD|CNI-ISOLATION-\S+|CNI-HOSTPORT-(MASQ|SETMARK)) /.test(line),
        );
    for (const table of ['nat', 'filter']) {
      assert.ok(jumps(table).length >= 4, `${program} ${table}`);
      assert.equal(new Set(jumps(table)).size, jumps(table).length);
    }
  }
  for (const pod of pods) await node.cni.check(network, pod.attachment);
  await Promise.all(pods.map((pod) => node.cni.del(network, pod.attachment)));
  for (const pod of pods) pod[Symbol.dispose]();
  node.assertClean(before);
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '@heddle/cni';
import { assertUnchanged, leftovers } from '../support/leftovers.ts';
import { Node, type Pod } from '../support/node.ts';
import { installPlugins } from '../support/plugin-directory.ts';

const PODS = 64;

function chain(name: string): string {
  return JSON.stringify({
    cniVersion: '1.1.0',
    name,
    plugins: [
      {
        type: 'bridge',
        bridge: 'hdpar0',
        isDefaultGateway: true,
        ipMasq: true,
        ipam: { type: 'host-local', ranges: [[{ subnet: '10.55.0.0/24' }], [{ subnet: 'fd00:55::/64' }]] },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  });
}

function podsOf(node: Node, count: number): readonly Pod[] {
  return Array.from({ length: count }, (_, index) => {
    const portMappings = [{ hostPort: 20000 + index, containerPort: 80, protocol: 'tcp' }];
    return node.pod(`pod${index}`, { capabilityArgs: { portMappings } satisfies JsonObject });
  });
}

test(`${PODS} pods attached at once get addresses of their own, and leave nothing when they are detached`, async () => {
  using node = new Node();
  const runtime = node.runtime([installPlugins(join(node.directory, 'bin'))]);
  const network = node.network(chain('parallel'));
  const state = () => leftovers(node, [join(node.directory, 'ipam'), join(node.directory, 'cache')]);
  const pods = podsOf(node, PODS);
  const [first] = pods;
  assert.ok(first !== undefined);
  await runtime.add(network, first.attachment);
  await runtime.del(network, first.attachment);
  const before = state();

  const results = await Promise.all(pods.map(({ attachment }) => runtime.add(network, attachment)));
  const addresses = results.flatMap(({ ips = [] }) => ips.map(({ address }) => address));
  assert.equal(addresses.length, 2 * PODS);
  assert.equal(new Set(addresses).size, 2 * PODS);
  await Promise.all(pods.map(({ attachment }) => runtime.check(network, attachment)));
  assert.ok(first.pings('10.55.0.1'));
  assert.ok(pods.at(-1)?.pings('fd00:55::1'));

  await Promise.all(pods.map(({ attachment }) => runtime.del(network, attachment)));
  assertUnchanged(before, state());
  for (const pod of pods) pod[Symbol.dispose]();
});

test('GC frees exactly what is stale while pods are being attached', async () => {
  using node = new Node();
  const runtime = node.runtime([installPlugins(join(node.directory, 'bin'))]);
  const network = node.network(chain('collected'));
  const pods = podsOf(node, 12);
  const early = pods.slice(0, 6);
  await Promise.all(early.map(({ attachment }) => runtime.add(network, attachment)));
  // Half of them are gone without a DEL, as after a crash of the runtime.
  const stale = early.filter((_, index) => index % 2 === 1);
  const live = pods.filter((pod) => !stale.includes(pod));
  const valid = live.map(({ attachment: { containerID, ifName } }) => ({ containerID, ifname: ifName }));
  const late = pods.slice(6).map(({ attachment }) => runtime.add(network, attachment));
  await Promise.all([...late, runtime.gc(network, valid)]);
  for (const { attachment } of live) await runtime.check(network, attachment);
  const lines = (...command: [string, ...string[]]) =>
    node
      .run(...command)
      .trim()
      .split('\n');
  assert.equal(lines('find', join(node.directory, 'ipam'), '-name', '10.55.*').length, live.length);
  assert.equal(lines('ip', '-o', 'link', 'show', 'master', 'hdpar0').length, live.length);
  const rules = node.run('nft', 'list', 'ruleset');
  for (const { attachment } of stale) assert.equal(rules.includes(`id: ${attachment.containerID}"`), false);
  await Promise.all(live.map(({ attachment }) => runtime.del(network, attachment)));
  for (const pod of pods) pod[Symbol.dispose]();
});

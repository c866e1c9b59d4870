import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { loadNetworkFile } from '@heddle/cni/runtime';
import { bindNetns, unbindNetns } from '@heddle/sys';
import { assertUnchanged, leftovers } from '../support/leftovers.ts';
import { Node } from '../support/node.ts';
import { installPlugins } from '../support/plugin-directory.ts';
import { missing, missingReference, REFERENCE } from '../support/programs.ts';

const skip = missingReference('cnitool', 'bridge', 'portmap');

let node: Node;
let ours: string;
/** Where the pod's namespace is mounted: cnitool derives the container's ID from it. */
let netns: string;
before(() => {
  node = new Node();
  ours = installPlugins(join(node.directory, 'bin'));
  netns = join(node.directory, 'netns');
});
after(() => node[Symbol.dispose]());

/** The chain of the foundation, with backends that both sides can see. */
function list(backend: 'iptables' | 'nftables', cniVersion = '1.1.0'): object {
  return {
    cniVersion,
    name: `mixed-${backend}`,
    plugins: [
      {
        type: 'bridge',
        bridge: 'hdmix0',
        isDefaultGateway: true,
        ipMasq: true,
        ipMasqBackend: backend,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir: join(node.directory, 'ipam'),
          ranges: [[{ subnet: '10.44.0.0/24' }], [{ subnet: 'fd00:44::/64' }]],
        },
      },
      { type: 'portmap', backend, capabilities: { portMappings: true } },
    ],
  };
}

function write(content: object & { readonly name?: string }): string {
  const directory = join(node.directory, 'net.d');
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `${(content as { name: string }).name}.conflist`);
  writeFileSync(file, JSON.stringify(content));
  return file;
}

/** cnitool of the current release, on the plugins of a directory. */
function cnitool(
  verb: string,
  network: string,
  plugins: string,
): { status: number | null; stdout: string; stderr: string } {
  const env = {
    PATH: process.env['PATH'] ?? '',
    CNI_PATH: plugins,
    NETCONFPATH: join(node.directory, 'net.d'),
    CAP_ARGS: JSON.stringify({ portMappings: [{ hostPort: 8088, containerPort: 80, protocol: 'tcp' }] }),
  };
  return node.inside(() =>
    spawnSync(join(REFERENCE.current, 'cnitool'), [verb, network, netns], { env, encoding: 'utf8' }),
  );
}

function succeed(verb: string, network: string, plugins: string): string {
  const { status, stdout, stderr } = cnitool(verb, network, plugins);
  assert.equal(status, 0, `cnitool ${verb}: ${stderr}`);
  return stdout;
}

/**
 * GC as cnitool sends it: a DEL for everything in its cache, then GC without any list of what is valid. To
 * that our plugins answer that they changed nothing.
 */
function collect(network: string): void {
  const { status, stderr } = cnitool('gc', network, ours);
  assert.equal(status, 1);
  assert.match(stderr, /GC needs the key "cni\.dev\/valid-attachments"; nothing was changed/);
  assert.doesNotMatch(stderr, /failed to delete stale attachment/);
}

const state = () =>
  leftovers(node, [
    join(node.directory, 'ipam'),
    { directory: '/var/lib/cni/results', startsWith: 'mixed-' },
  ]);

for (const backend of ['iptables', 'nftables'] as const) {
  test(`cnitool drives our plugins through every verb (${backend})`, {
    skip: skip || missing('iptables'),
  }, () => {
    using pod = node.pod('x');
    bindNetns(pod.handle, netns);
    try {
      const network = `mixed-${backend}`;
      write(list(backend));
      succeed('add', network, ours);
      succeed('del', network, ours);
      const before = state();
      const result = JSON.parse(succeed('add', network, ours));
      assert.equal(result.cniVersion, '1.1.0');
      assert.equal(result.ips.length, 2);
      succeed('check', network, ours);
      succeed('status', network, ours);
      succeed('del', network, ours);
      succeed('del', network, ours);
      assertUnchanged(before, state());
      succeed('add', network, ours);
      collect(network);
      assertUnchanged(before, state());
    } finally {
      unbindNetns(netns);
    }
  });
}

test('what the reference attached is checked, collected and removed by ours', { skip }, () => {
  for (const backend of ['iptables', 'nftables'] as const) {
    using pod = node.pod('x');
    bindNetns(pod.handle, netns);
    try {
      const network = `mixed-${backend}`;
      write(list(backend));
      succeed('add', network, REFERENCE.current);
      succeed('del', network, ours);
      const before = state();
      succeed('add', network, REFERENCE.current);
      succeed('check', network, ours);
      succeed('del', network, ours);
      assertUnchanged(before, state(), `DEL with ${backend}`);
      succeed('add', network, REFERENCE.current);
      collect(network);
      assertUnchanged(before, state(), `GC with ${backend}`);
    } finally {
      unbindNetns(netns);
    }
  }
});

test('what ours attached is removed by the reference, with the iptables backends', { skip }, () => {
  using pod = node.pod('x');
  bindNetns(pod.handle, netns);
  try {
    const network = 'mixed-iptables';
    write(list('iptables'));
    succeed('add', network, ours);
    succeed('del', network, REFERENCE.current);
    const before = state();
    succeed('add', network, ours);
    succeed('check', network, REFERENCE.current);
    succeed('del', network, REFERENCE.current);
    assertUnchanged(before, state());
  } finally {
    unbindNetns(netns);
  }
});

test('our runtime and libcni share the cache: either finds what the other attached', { skip }, async () => {
  using pod = node.pod('x');
  bindNetns(pod.handle, netns);
  try {
    const network = loadNetworkFile(write(list('iptables')));
    succeed('add', 'mixed-iptables', ours);
    const runtime = node.runtime([ours], { cacheDir: '/var/lib/cni' });
    const [cached] = readdirSync('/var/lib/cni/results').filter((name) => name.startsWith('mixed-iptables'));
    const { containerId } = JSON.parse(readFileSync(join('/var/lib/cni/results', String(cached)), 'utf8'));
    const attachment = {
      containerID: containerId,
      ifName: 'eth0',
      netns,
      capabilityArgs: { portMappings: [{ hostPort: 8088, containerPort: 80, protocol: 'tcp' }] },
    };
    await runtime.check(network, attachment);
    await runtime.del(network, attachment);
    assert.equal(existsSync(join('/var/lib/cni/results', String(cached))), false);
    await runtime.add(network, attachment);
    succeed('check', 'mixed-iptables', ours);
    succeed('del', 'mixed-iptables', ours);
    assert.equal(existsSync(join('/var/lib/cni/results', String(cached))), false);
  } finally {
    unbindNetns(netns);
  }
});

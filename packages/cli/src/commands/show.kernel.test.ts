/** What `show` and `ls` find of real attachments. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TestNetns } from '@heddle/plugins/testing';
import { KernelLab } from '../testing/kernel-lab.ts';

interface Shown {
  readonly attachments: readonly {
    readonly containerID: string;
    readonly ifName: string;
    readonly state: string;
    readonly container: { readonly links: readonly { readonly name: string }[] } | null;
    readonly host: {
      readonly links: readonly {
        readonly name: string;
        readonly kind: string;
        readonly master: string | null;
      }[];
      readonly addresses: readonly { readonly address: string }[];
    };
    readonly nftables: {
      readonly elements: readonly {
        readonly set: string;
        readonly key: string;
        readonly data: string | null;
      }[];
    };
    readonly reservations: readonly { readonly address: string }[];
    readonly cache: { readonly plugins: readonly string[]; readonly capabilityArgs: object } | null;
  }[];
}

const PORTS = { portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }] };
const ENV = {
  CAP_ARGS: JSON.stringify(PORTS),
  CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web',
};

async function attach(lab: KernelLab, pod: TestNetns, id: string, ifName = 'eth0', env = {}): Promise<void> {
  const { exitCode, stderr } = await lab.inProcess(
    ['add', 'podnet', pod.path, '--container-id', id, '-i', ifName],
    env,
  );
  assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: '' });
}

async function show(lab: KernelLab, ...args: readonly string[]): Promise<Shown> {
  return (await lab.json(['show', ...args])) as Shown;
}

describe('heddle show', () => {
  test('finds what belongs to an attachment on both sides, and nothing of the neighbours', async () => {
    using lab = new KernelLab();
    using one = new TestNetns();
    using other = new TestNetns();
    await attach(lab, one, 'c1', 'eth0', ENV);
    await attach(lab, other, 'c2');
    const { attachments } = await show(lab, 'c1');
    const [shown] = attachments;
    assert.equal(attachments.length, 1);
    assert.equal(shown?.state, 'attached');
    assert.deepEqual(
      shown.container?.links.map(({ name }) => name),
      ['eth0'],
    );
    assert.deepEqual(shown.host.links.map(({ kind, master }) => `${kind} ${master}`).toSorted(), [
      'bridge null',
      'veth hdcli0',
    ]);
    assert.ok(shown.host.addresses.some(({ address }) => address === '10.45.0.1/24'));
    const elements = shown.nftables.elements.map(({ set, key, data }) => `${set} ${key} ${data}`);
    assert.ok(elements.includes('ports4 tcp . 8080 10.45.0.2 . 80'), elements.join('\n'));
    assert.ok(elements.includes('ports6 tcp . 8080 fd45::2 . 80'), elements.join('\n'));
    assert.ok(!elements.some((element) => element.includes('10.45.0.3')), elements.join('\n'));
    assert.deepEqual(shown.reservations.map(({ address }) => address).toSorted(), ['10.45.0.2', 'fd45::2']);
    assert.deepEqual(shown.cache?.plugins, ['bridge', 'portmap']);
    assert.deepEqual(shown.cache.capabilityArgs, PORTS);
  });

  test('prints sections for people', async () => {
    using lab = new KernelLab();
    using pod = new TestNetns();
    await attach(lab, pod, 'c1', 'eth0', ENV);
    const { exitCode, stdout } = await lab.run(['show', 'default/web']);
    assert.equal(exitCode, 0);
    assert.match(stdout, /^network +podnet\ncontainer +c1\n/);
    assert.match(stdout, /^state +attached \(known by: cache, link, reservation\)$/m);
    assert.match(stdout, /^in the container\n {2}link +eth0 \(veth\) up, mtu 1500, /m);
    assert.match(stdout, /^ {2}route +default \(0\.0\.0\.0\/0\) via 10\.45\.0\.1 dev eth0$/m);
    assert.match(stdout, /^on the host\n(.*\n)*? {2}link +veth\S+ \(veth\) up, .*, a port of hdcli0$/m);
    assert.match(stdout, /^ {2}inet heddle ports4 +tcp \. 8080 : 10\.45\.0\.2 \. 80$/m);
    assert.match(stdout, /^reserved by host-local\n {2}10\.45\.0\.2 +for 0s, in /m);
  });

  test('shows all attachments of a container, or the one that is asked for', async () => {
    using lab = new KernelLab();
    using pod = new TestNetns();
    await attach(lab, pod, 'c1');
    await attach(lab, pod, 'c1', 'net1');
    assert.deepEqual(
      (await show(lab, 'c1')).attachments.map(({ ifName }) => ifName),
      ['eth0', 'net1'],
    );
    assert.deepEqual(
      (await show(lab, 'c1', '-i', 'net1')).attachments.map(({ ifName }) => ifName),
      ['net1'],
    );
    assert.deepEqual((await show(lab, pod.path)).attachments.length, 2);
  });

  test('shows what is left of a container that is gone', async () => {
    using lab = new KernelLab();
    {
      using pod = new TestNetns();
      await attach(lab, pod, 'c1', 'eth0', ENV);
    }
    const [shown] = (await show(lab, 'c1')).attachments;
    assert.deepEqual(
      { state: shown?.state, container: shown?.container },
      { state: 'stale', container: null },
    );
    assert.ok((shown?.nftables.elements.length ?? 0) > 0);
    assert.match(
      (await lab.run(['show', 'c1'])).stdout,
      /^in the container\n {2}its namespace is gone, or not known$/m,
    );
    assert.equal((await lab.inProcess(['gc', 'podnet', '--keep-live'])).exitCode, 0);
    assert.deepEqual(lab.leftovers(), []);
  });

  test('asks for more of an ID that could mean two containers', async () => {
    using lab = new KernelLab();
    using one = new TestNetns();
    using other = new TestNetns();
    await attach(lab, one, 'abc1');
    await attach(lab, other, 'abc2');
    const { exitCode, stderr } = await lab.run(['show', 'abc']);
    assert.equal(exitCode, 1);
    assert.equal(stderr, 'heddle: show abc: this could be abc1 or abc2\n  hint: give more of the ID\n');
    assert.equal((await show(lab, 'abc1')).attachments.length, 1);
    assert.match((await lab.run(['show', 'nobody'])).stderr, /no attachment of such a container/);
  });
});

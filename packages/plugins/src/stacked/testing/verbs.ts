/** Tests of ADD, CHECK and DEL that hold for every kind of stacked link. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CNI_VERSIONS, type CniVersion } from '@heddle/cni';
import type { Container, TestNetns } from '../../testing/index.ts';
import { DUAL, MASTER, NEIGHBOUR, PLACES, POD, StackedScene, type Subject } from './scene.ts';

interface LinkInfo {
  readonly ifname: string;
  readonly address: string;
  readonly mtu: number;
  readonly flags: readonly string[];
  readonly ifalias?: string;
  readonly linkinfo?: { readonly info_kind: string; readonly info_data: Readonly<Record<string, unknown>> };
}

/** A link as `ip -d -j link` shows it. */
export function linkInfo(netns: TestNetns, name: string): LinkInfo {
  const [link] = netns.json('ip', '-d', '-j', 'link', 'show', name) as LinkInfo[];
  return link ?? assert.fail(`no link ${name}`);
}

/** The names of a namespace's links, but for `lo`. */
export function linkNames(netns: TestNetns): readonly string[] {
  const links = netns.json('ip', '-j', 'link') as LinkInfo[];
  return links.map(({ ifname }) => ifname).filter((name) => name !== 'lo');
}

/** The global addresses of `eth0`. */
export function addressesIn(netns: TestNetns): readonly string[] {
  const lines = netns.run('ip', '-o', 'address', 'show', 'dev', 'eth0', 'scope', 'global').split('\n');
  return lines.flatMap((line) => / inet6? (\S+)/.exec(line)?.[1] ?? []);
}

/** Registers the tests. */
export function testVerbs(subject: Subject): void {
  const { type } = subject.plugin;
  for (const place of PLACES) {
    test(`${type}, every version, master in the ${place}: ADD, CHECK, DEL twice`, async () => {
      using scene = new StackedScene(subject, place);
      const container = scene.container();
      const outside = scene.lab.hostState();
      for (const cniVersion of CNI_VERSIONS) await addCheckDelete(subject, scene, container, cniVersion);
      assert.equal(scene.lab.hostState(), outside);
    });
    for (const [family, at] of [
      ['IPv4', 0],
      ['IPv6', 1],
    ] as const) {
      test(`${type}, ${family} alone, master in the ${place}`, async () => {
        using scene = new StackedScene(subject, place);
        const container = scene.container();
        scene.ipam.answer = { ips: DUAL.ips.slice(at, at + 1), routes: DUAL.routes.slice(at, at + 1) };
        const request = { config: scene.config(), container };
        const prevResult = await scene.lab.add(request);
        assert.deepEqual(addressesIn(container), [DUAL.ips[at]?.address]);
        assert.ok(container.pings(NEIGHBOUR[at]));
        await scene.lab.check({ ...request, prevResult });
      });
    }
  }

  test(`${type}: the host may have a link of the same name`, async () => {
    using scene = new StackedScene(subject);
    scene.lab.host.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth1');
    const container = scene.container();
    const result = await scene.lab.add({ config: scene.config(), container });
    assert.equal(result.interfaces?.[0]?.name, 'eth0');
    assert.deepEqual(linkNames(container), ['eth0']);
  });

  for (const place of PLACES) {
    test(`${type}, master in the ${place}: an interface of that name in the container stays as it is`, async () => {
      using scene = new StackedScene(subject, place);
      const container = scene.container();
      container.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth1');
      const before = container.run('ip', '-o', 'link');
      await assert.rejects(scene.lab.add({ config: scene.config(), container }), {
        msg: /the container has an interface eth0 already/,
        cniCode: 141,
      });
      assert.equal(container.run('ip', '-o', 'link'), before);
      assert.equal(scene.ipam.held.size, 0);
    });

    test(`${type}: a missing master in the ${place} is named (containernetworking/plugins#830)`, async () => {
      using scene = new StackedScene(subject, place);
      const container = scene.container();
      const where = place === 'host' ? 'on the host' : 'in the container';
      await assert.rejects(scene.lab.add({ config: scene.config({ master: 'nope0' }), container }), {
        msg: new RegExp(`master "nope0" not found ${where}`),
      });
      assert.deepEqual(scene.ipam.commands, []);
    });
  }

  test(`${type}: an MTU that the master does not have is refused with both numbers (containernetworking/plugins#393)`, async () => {
    using scene = new StackedScene(subject);
    const container = scene.container();
    for (const mtu of [2000, -1]) {
      const added = scene.lab.add({ config: scene.config({ mtu }), container });
      await assert.rejects(added, { msg: `invalid MTU ${mtu}, must be [0, master MTU(1500)]`, cniCode: 7 });
    }
    for (const [mtu, expected] of [
      [1400, 1400],
      [0, 1500],
      [undefined, 1500],
    ] as const) {
      await scene.lab.add({ config: scene.config({ mtu }), container });
      assert.equal(linkInfo(container, 'eth0').mtu, expected);
      await scene.lab.del({ config: scene.config({ mtu }), container });
    }
    scene.lab.host.run('ip', 'link', 'set', MASTER, 'mtu', '9000');
    await scene.lab.add({ config: scene.config(), container });
    assert.equal(linkInfo(container, 'eth0').mtu, 9000);
  });

  test(`${type}: name resolution is the configuration's, never that of address management`, async () => {
    using scene = new StackedScene(subject);
    scene.ipam.answer = { ...DUAL, dns: { nameservers: ['192.0.2.53'] } };
    const dns = { nameservers: ['192.0.2.1'], search: ['example.net'] };
    const container = scene.container();
    assert.deepEqual((await scene.lab.add({ config: scene.config({ dns }), container })).dns, dns);
    await scene.lab.del({ config: scene.config({ dns }), container });
    assert.equal((await scene.lab.add({ config: scene.config(), container })).dns, undefined);
  });

  test(`${type}: neighbours that knew the addresses elsewhere learn where they are, with and without duplicate detection`, async () => {
    using scene = new StackedScene(subject);
    for (const detects of ['0', '1']) {
      const container = scene.container();
      container.run('sh', '-c', `echo ${detects} > /proc/sys/net/ipv6/conf/default/accept_dad`);
      for (const address of POD) {
        const entry = [address, 'lladdr', '02:00:00:00:00:99', 'dev', scene.neighbourLink];
        scene.neighbour.run('ip', 'neigh', 'replace', ...entry, 'nud', 'stale');
      }
      const result = await scene.lab.add({ config: scene.config(), container });
      for (const address of POD) {
        const known = scene.neighbour.run('ip', 'neigh', 'show', address);
        assert.match(known, new RegExp(`lladdr ${result.interfaces?.[0]?.mac}`), `${address}, ${detects}`);
      }
      container[Symbol.dispose]();
    }
  });

  test(`${type}: an address that another host has is refused, and nothing is left`, async () => {
    using scene = new StackedScene(subject);
    const container = scene.lab.container();
    scene.neighbour.run('ip', 'address', 'add', `${POD[1]}/64`, 'dev', scene.neighbourLink);
    await assert.rejects(scene.lab.add({ config: scene.config(), container }), {
      msg: /address fd00::2\/64 on eth0 is a duplicate/,
    });
    assert.deepEqual(linkNames(container), []);
    assert.equal(scene.ipam.held.size, 0);
  });
}

async function addCheckDelete(
  subject: Subject,
  { lab, ipam, config }: StackedScene,
  container: Container,
  cniVersion: CniVersion,
): Promise<void> {
  const request = { config: config({ cniVersion }), container };
  const inside = linkNames(container);
  const { stdout, exitCode } = await lab.run({ ...request, command: 'ADD' });
  assert.equal(exitCode, 0, stdout);
  const prevResult = JSON.parse(stdout);

  const link = linkInfo(container, 'eth0');
  assert.equal(link.linkinfo?.info_kind, subject.plugin.type);
  for (const [member, value] of Object.entries(subject.shows)) {
    assert.deepEqual(link.linkinfo?.info_data[member], value, member);
  }
  assert.ok(link.flags.includes('UP'));
  assert.match(link.ifalias ?? '', /^heddle:\{"net":"net1","id":"c1","if":"eth0"\}$/);
  assert.deepEqual(
    addressesIn(container),
    DUAL.ips.map(({ address }) => address),
  );
  if (cniVersion === '0.1.0' || cniVersion === '0.2.0') {
    assert.deepEqual([prevResult.ip4.ip, prevResult.ip6.ip], addressesIn(container));
  } else {
    assert.deepEqual(prevResult.interfaces, [{ name: 'eth0', mac: link.address, sandbox: container.path }]);
    assert.ok(prevResult.ips.every((ip: { interface: number }) => ip.interface === 0));
  }
  // CHECK came with 0.4.0.
  if (CNI_VERSIONS.indexOf(cniVersion) >= 4) await lab.check({ ...request, prevResult });

  for (let time = 0; time < 2; time++) {
    await lab.del({ ...request, prevResult });
    assert.deepEqual(linkNames(container), inside);
    assert.equal(ipam.held.size, 0);
  }
}

/** What the neighbours see of a container that has just been added, and of one that took over an address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Addr } from '@heddle/netaddr';
import { type Container, PluginLab, StubIpam, type TestNetns, UdpEndpoint } from '../testing/index.ts';
import { bridge } from './index.ts';

const config = { type: 'bridge', bridge: 'br0', isDefaultGateway: true, ipam: { type: 'stub' } };
const PORT = 4000;
const ROUNDS = 1000;
/** Less than the second after which a lost solicitation is repeated. */
const SOON_MS = 800;
// Taken in turns, so every round takes over addresses that another MAC had the round but one before.
const PODS = [2, 3];
const NEIGHBOUR = 100;
const v4 = (host: number) => Addr.parse(`10.1.2.${host}`);
const v6 = (host: number) => Addr.parse(`fd00::${host.toString(16)}`);

test(`the first packet arrives, ${ROUNDS} times of ${ROUNDS}, in both directions, with addresses that another MAC had`, async () => {
  const ipam = new StubIpam();
  using lab = new PluginLab([bridge, ipam.plugin]);
  const addressed = (host: number) => ({
    ips: [{ address: `${v4(host)}/24` }, { address: `${v6(host)}/64` }],
  });
  const neighbour = lab.container('neighbour');
  ipam.answer = addressed(NEIGHBOUR);
  await lab.add({ config, container: neighbour });

  using ends = new DisposableStack();
  const listen = (netns: TestNetns, address: Addr, port = 0) =>
    ends.use(new UdpEndpoint(netns.handle, address, port));
  const near = { 4: listen(neighbour, Addr.ZERO4, PORT), 6: listen(neighbour, Addr.ZERO6, PORT) };
  const host = { 4: listen(lab.host, Addr.ZERO4), 6: listen(lab.host, Addr.ZERO6) };

  const lost: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const number = PODS[round % PODS.length] ?? 0;
    ipam.answer = addressed(number);
    await withContainer(lab, async (container) => {
      const request = { config, container };
      const prevResult = await lab.add(request);
      for (const [family, address] of [
        [4, v4],
        [6, v6],
      ] as const) {
        using pod = new UdpEndpoint(container.handle, address(number), PORT);
        const label = `round ${round}, IPv${family}: from the`;
        pod.send(`${label} container`, address(NEIGHBOUR), PORT);
        near[family].send(`${label} neighbour`, address(number), PORT);
        host[family].send(`${label} host`, address(number), PORT);
        lost.push(...(await near[family].missing([`${label} container`], SOON_MS)));
        lost.push(...(await pod.missing([`${label} neighbour`, `${label} host`], SOON_MS)));
      }
      await lab.del({ ...request, prevResult });
    });
  }
  assert.deepEqual(lost, []);
});

test('neighbours have the new MAC in their tables when ADD returns', async () => {
  const ipam = new StubIpam();
  using lab = new PluginLab([bridge, ipam.plugin]);
  const [neighbour, first, second] = [lab.container(), lab.container(), lab.container()];
  ipam.answer = { ips: [{ address: '10.1.2.100/24' }, { address: 'fd00::100/64' }] };
  await lab.add({ config, container: neighbour });
  ipam.answer = { ips: [{ address: '10.1.2.2/24' }, { address: 'fd00::2/64' }] };
  const before = await lab.add({ config, container: first });
  const addresses = ['10.1.2.2', 'fd00::2'];
  for (const address of addresses) {
    assert.ok(neighbour.pings(address));
    assert.ok(lab.host.pings(address));
  }
  await lab.del({ config, container: first, prevResult: before });
  for (const address of addresses) {
    assert.equal(macOf(lab.host, 'br0', address), undefined, 'the host has forgotten the address');
    assert.equal(macOf(neighbour, 'eth0', address), before.interfaces?.[2]?.mac, 'the neighbour has not');
  }
  const after = await lab.add({ config, container: second });
  assert.notEqual(after.interfaces?.[2]?.mac, before.interfaces?.[2]?.mac);
  for (const address of addresses)
    assert.equal(macOf(neighbour, 'eth0', address), after.interfaces?.[2]?.mac);
});

function macOf(netns: TestNetns, link: string, address: string): string | undefined {
  const entries = netns.json('ip', '-j', 'neighbour', 'show', 'dev', link) as {
    dst: string;
    lladdr?: string;
  }[];
  return entries.find(({ dst }) => dst === address)?.lladdr;
}

async function withContainer(lab: PluginLab, run: (container: Container) => Promise<void>): Promise<void> {
  using container = lab.container();
  await run(container);
}

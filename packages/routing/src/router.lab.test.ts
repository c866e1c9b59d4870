/** Overlays that small kernels lack: Geneve and IP-in-IP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasTunnelsOf, TestCluster } from './testing/test-cluster.ts';
import { until } from './testing/until.ts';

/** An emulated machine may do nothing else for longer than a lease usually lasts. */
const LONG = { join: { leaseSeconds: 3600 } } as const;

const CASES = [
  ['geneve', ['192.0.2.1/24', 'fd00::1/64'], ['192.0.2.2/24', 'fd00::2/64'], [4, 6], 1450],
  ['geneve', ['fd00::1/64'], ['fd00::2/64'], [4, 6], 1430],
  ['ipip', ['192.0.2.1/24'], ['192.0.2.2/24'], [4], 1480],
] as const;

for (const [overlay, here, there, families, mtu] of CASES) {
  test(`${overlay} over ${here.join(' and ')}: pods reach each other, with packets as large as can be`, async () => {
    await using cluster = new TestCluster();
    await cluster.pool('v4', '10.244.0.0/16', { encapsulation: 'always', overlay });
    if (overlay !== 'ipip')
      await cluster.pool('v6', 'fd00:10:244::/48', { encapsulation: 'always', overlay });
    const segment = cluster.segment();
    const one = await cluster.node('n1', segment, here, LONG);
    const two = await cluster.node('n2', segment, there, LONG);
    const pods = [await one.pod(families), await two.pod(families)] as const;
    await until(
      'they have told their tunnel addresses',
      () => hasTunnelsOf(one, two) && hasTunnelsOf(two, one),
    );
    for (const address of pods[1].addresses) {
      await until(`${address} answers`, () => pods[0].netns.pings(address)).catch((error: unknown) =>
        assert.deepEqual(one.router.status().problems, [], String(error)),
      );
      const size = (bytes: number) => ['-M', 'do', '-s', `${bytes - (address.includes(':') ? 48 : 28)}`];
      await until(`${mtu} bytes reach ${address}`, () => pods[0].netns.pings(address, ...size(mtu)));
      assert.ok(!pods[0].netns.pings(address, ...size(mtu + 1)), `${mtu + 1} bytes to ${address}`);
      await until('what the node sends itself comes back', () => one.netns.pings(address));
    }
    await until('all is as desired', async () => {
      await one.router.resync();
      return one.router.status().problems.length === 0;
    });
    const events: string[] = [];
    using _ = one.netns.session.subscribe({
      groups: ['link', 'route4', 'route6', 'address4', 'address6'],
      onEvent: ({ kind, action }) => events.push(`${action} ${kind}`),
      onResync: () => events.push('lost'),
    });
    await one.router.resync();
    await one.router.resync();
    assert.deepEqual(events, [], 'nothing is made anew that is there');
  });
}

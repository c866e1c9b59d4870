import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KernelSession, openSession } from '@heddle/netlink';
import { planVlans } from './port.ts';

const DEFAULT = { id: 1, pvid: true, untagged: true };

/** What is planned for a port, in the words of the requests; a session opens no socket before it is used. */
async function plan(
  vlans: Parameters<typeof planVlans>[2],
  keepDefault: boolean,
): Promise<readonly string[]> {
  using session = openSession({ mode: 'sync' });
  const bridge = { plan: session.bridge.plan, vlans: async () => [DEFAULT] };
  const changes = await planVlans({ bridge } as unknown as KernelSession, 5, vlans, keepDefault);
  const messages = await Promise.all(changes.map((change) => change(async () => 5)));
  return messages.map(({ operation }) => operation);
}

test('a port without VLANs is left as the bridge made it', async () => {
  assert.deepEqual(await plan({ untagged: 0, tagged: [] }, false), []);
});

test("a port's own VLAN takes the place of the bridge's default one", async () => {
  assert.deepEqual(await plan({ untagged: 100, tagged: [] }, false), [
    'delete VLAN 1 from #5',
    'add VLAN 100 to #5',
  ]);
  assert.deepEqual(await plan({ untagged: 100, tagged: [] }, true), ['add VLAN 100 to #5']);
});

test('a trunk keeps untagged frames in VLAN 1, and takes its VLANs in runs', async () => {
  assert.deepEqual(await plan({ untagged: 1, tagged: [1, 10, 100, 101, 102] }, false), [
    'delete VLAN 1 from #5',
    'add VLAN 1 to #5',
    'add VLAN 10 to #5',
    'add VLANs 100-102 to #5',
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KernelSession } from '@heddle/netlink';
import { everyRequest, SabotageError } from './sabotage.ts';

/** Asks for links, waits for an address, which takes so many questions, then makes two changes and looks again. */
async function operation({ links, addresses }: KernelSession, waits: number): Promise<void> {
  await links.find('br0');
  for (let time = 0; time < waits; time++) {
    await addresses.groups(1);
    if (time === 0) await links.get(1);
  }
  await links.delete(1);
  await links.delete(2);
  await links.find('br0');
}

const answer = async () => undefined;
const session = {
  links: { find: answer, get: answer, delete: answer },
  addresses: { groups: answer },
} as unknown as KernelSession;

test('each request is sabotaged once, however long is waited each time', async () => {
  let turn = 0;
  const hit: string[] = [];
  for (const sabotage of everyRequest()) {
    const waits = [1, 9, 1, 30, 2, 4][turn++ % 6] ?? 1;
    try {
      await operation(sabotage.wrap(session), waits);
      assert.match(String(sabotage), /did not come up$/);
    } catch (error) {
      assert.ok(error instanceof SabotageError);
      hit.push(String(sabotage));
    }
  }
  const always = ['links.find 1', 'addresses.groups 1', 'links.get 1', 'links.delete 1', 'links.delete 2'];
  for (const request of [...always, 'links.find 2'])
    assert.equal(hit.filter((each) => each === `${request} fails`).length, 1, `${request} in ${hit}`);
  assert.equal(new Set(hit).size, hit.length);
});

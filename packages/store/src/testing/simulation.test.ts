import assert from 'node:assert/strict';
import { test } from 'node:test';
import { put } from '../compare-and-swap.ts';
import { StoreError } from '../store-error.ts';
import { Simulation } from './simulation.ts';

/** Some clients that count in one key, and what each of them saw. */
async function count(seed: number): Promise<{ readonly story: readonly string[]; readonly end: string }> {
  const simulation = new Simulation({ seed });
  const story: string[] = [];
  const work = async (name: string) => {
    const { store } = simulation.client({ refuse: 0.1, loseAnswer: 0.1 });
    for (let n = 0; n < 20; n++) {
      try {
        const entry = await store.get('/n');
        const value = String(Number(entry?.value ?? 0) + 1);
        await put(store, '/n', value, { at: entry?.revision ?? 0 });
        story.push(`${simulation.now()} ${name} ${value}`);
      } catch (error) {
        if (!StoreError.is(error)) throw error;
        story.push(`${simulation.now()} ${name} ${error.code} ${error.mayHaveHappened}`);
      }
    }
  };
  await simulation.run(Promise.all(['a', 'b', 'c'].map(work)));
  return { story, end: simulation.database.get('/n')?.value ?? '' };
}

test('the same number makes the same story, another number another one', async () => {
  const first = await count(1);
  assert.deepEqual(await count(1), first);
  assert.notDeepEqual((await count(2)).story, first.story);
});

test('writers meet, calls are refused, and answers are lost', async () => {
  const { story, end } = await count(3);
  const having = (text: string) => story.filter((line) => line.includes(text)).length;
  assert.ok(
    having('STORE_CONFLICT') > 0 && having('UNAVAILABLE false') > 0 && having('UNAVAILABLE true') > 0,
  );
  const told = story.length - having('STORE_');
  assert.ok(Number(end) > told, 'a change whose answer was lost was made all the same');
  assert.ok(Number(end) <= told + having('UNAVAILABLE true'));
});

test('a client that crashes never hears anything again, whatever became of its calls', async () => {
  const simulation = new Simulation({ seed: 5 });
  const [crashing, other] = [simulation.client(), simulation.client()];
  let heard = false;
  const hear = () => {
    heard = true;
  };
  put(crashing.store, '/x', '1').then(hear, hear);
  crashing.crash();
  put(crashing.store, '/y', '1').then(hear, hear);
  await simulation.run(put(other.store, '/z', '1'));
  assert.equal(heard, false);
  assert.equal(simulation.database.get('/y'), undefined);
});

test('time passes when everybody waits for it, and ends leases', async () => {
  const simulation = new Simulation({ seed: 6 });
  const { store } = simulation.client();
  const run = async () => {
    const { id } = await store.grantLease(60);
    await put(store, '/x', '', { lease: id });
    await simulation.sleep(59_000);
    assert.notEqual(await store.get('/x'), undefined);
    await simulation.sleep(2000);
    return store.get('/x');
  };
  assert.equal(await simulation.run(run()), undefined);
  await assert.rejects(simulation.run(new Promise(() => {})), /nobody waits for anything/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { put } from './compare-and-swap.ts';
import { follow } from './follow.ts';
import { Simulation } from './testing/index.ts';

test('whoever follows a store that fails all the time ends up with what is there', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const simulation = new Simulation({ seed, history: 5 });
    const writer = simulation.client();
    const reader = simulation.client({ refuse: 0.2, loseAnswer: 0.2 });
    const stopping = new AbortController();
    const view = new Map<string, string>();
    let troubles = 0;
    const read = async () => {
      const news = follow(reader.store, '/f/', {
        signal: stopping.signal,
        pause: (attempt) => simulation.sleep(attempt * 10),
        troubled: () => troubles++,
      });
      for await (const told of news) {
        if (told.kind === 'state') {
          view.clear();
          for (const { key, value } of told.entries) view.set(key, value);
        } else {
          for (const event of told.events) {
            if (event.kind === 'put') view.set(event.key, event.entry.value);
            else view.delete(event.key);
          }
        }
        if (view.get('/f/last') === 'yes') return;
      }
    };
    const write = async () => {
      for (let n = 0; n < 200; n++) {
        const key = `/f/${Math.floor(simulation.random() * 10)}`;
        const change = simulation.random() < 0.3 ? { delete: key } : { put: key, value: String(n) };
        await writer.store.commit({ changes: [change, { put: '/other', value: '' }] });
      }
      await put(writer.store, '/f/last', 'yes');
    };
    await simulation.run(Promise.all([read(), write()]));
    const { entries } = simulation.database.list('/f/');
    assert.deepEqual([...view].sort(), entries.map(({ key, value }) => [key, value]).sort(), `seed ${seed}`);
    assert.ok(troubles > 0);
  }
});

test('what waiting does not mend ends it', async () => {
  const simulation = new Simulation({ seed: 1 });
  const { store } = simulation.client();
  const options = { signal: new AbortController().signal, pause: async () => {} };
  await assert.rejects(simulation.run(follow(store, 'not a key', options).next()), {
    code: 'STORE_REQUEST_INVALID',
  });
});

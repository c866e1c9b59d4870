/** A process that counts in a store's file: `writer-program.ts FILE TIMES`. */
import { put } from '../compare-and-swap.ts';
import { openSqlite } from '../sqlite/index.ts';
import { StoreError } from '../store-error.ts';

const [path = '', times = '0'] = process.argv.slice(2);
await using store = await openSqlite({ path });
for (let n = 0; n < Number(times); ) {
  const entry = await store.get('/count');
  try {
    await put(store, '/count', String(Number(entry?.value ?? 0) + 1), { at: entry?.revision ?? 0 });
    n++;
  } catch (error) {
    if (!StoreError.is(error, 'STORE_CONFLICT')) throw error;
  }
}

import { describeStore } from './contract.ts';
import { ManualTime } from './manual-time.ts';
import { MemoryDatabase } from './memory-database.ts';
import { openMemory } from './memory-store.ts';

let time: ManualTime;
let database: MemoryDatabase;

describeStore('a store in memory', {
  async open() {
    time = new ManualTime();
    database = new MemoryDatabase({ time });
    return [openMemory(database), openMemory(database)];
  },
  async compact() {
    database.compact();
  },
  async pass(seconds) {
    time.pass(seconds * 1000);
  },
  shortLease: 1,
});

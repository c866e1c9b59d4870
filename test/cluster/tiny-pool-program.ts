/**
 * A program that has the cluster of a store give IPv4 addresses from a pool of eight, with a rest of so many seconds:
 * `tiny-pool-program.ts STORE SECONDS`.
 */
import { openStore } from '@heddle/agent';
import { putPool, putSettings, readCluster } from '@heddle/ipam/blocks';
import { Prefix } from '@heddle/netaddr';

const [url = '', seconds = ''] = process.argv.slice(2);
await using store = await openStore({ store: url });
const { pools } = await readCluster({ store });
for (const pool of pools.filter(({ cidr, name }) => cidr.family === 4 && name !== 'tiny')) {
  await putPool(store, { ...pool, disabled: true });
}
const tiny = { name: 'tiny', cidr: Prefix.parse('10.99.0.0/29'), blockSize: 31 } as const;
await putPool(store, { ...tiny, encapsulation: 'never', natOutgoing: false });
await putSettings(store, { coolDownSeconds: Number(seconds) });

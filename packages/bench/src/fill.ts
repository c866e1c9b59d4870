/** What is on a node before anything is measured. */
import { join } from 'node:path';
import { isJsonObject, type JsonValue } from '@heddle/cni';
import { DEFAULT_DATA_DIR, fileStore, resolveRangeSets } from '@heddle/ipam';
import { Addr, Prefix } from '@heddle/netaddr';
import { BenchError } from './bench-error.ts';
import type { Site } from './site.ts';

/** How full a node is. */
export interface Fill {
  /** Pods that are attached as any other. */
  readonly pods: number;
  /** Addresses that host-local has given to others, in each of its range sets. */
  readonly reservations: number;
  /** Ports that other pods publish. */
  readonly mappings: number;
}

/** One pod publishes this many ports: a bridge does not take a pod for each. */
const MAPPINGS_A_POD = 20;

/**
 * Fills a node.
 *
 * @param parallel how many pods are attached at a time
 * @throws {BenchError} BENCH_REFUSED when the network has nothing that can be filled so, BENCH_FAILED when a pod
 *   cannot be attached
 */
export async function fill(
  site: Site,
  { pods, reservations, mappings }: Fill,
  parallel: number,
): Promise<void> {
  if (reservations > 0) await fillReservations(site, reservations);
  if (mappings > 0) {
    requirePortMappings(site);
    await attach(site, Math.floor(mappings / MAPPINGS_A_POD), { parallel, ports: MAPPINGS_A_POD });
    const rest = mappings % MAPPINGS_A_POD;
    if (rest > 0) await attach(site, 1, { parallel, ports: rest });
  }
  await attach(site, pods, { parallel });
}

async function attach(
  site: Site,
  count: number,
  { parallel, ports }: { readonly parallel: number; readonly ports?: number },
): Promise<void> {
  if (count === 0) return;
  const { attempts } = await site.run('ADD', await site.pods.make(count, ports), { parallel, probes: [] });
  const failed = attempts.find(({ failure }) => failure !== undefined);
  if (failed === undefined) return;
  throw new BenchError('BENCH_FAILED', `${site.contender.name}: fill the node: ${failed.failure}`);
}

/**
 * @throws {BenchError} BENCH_REFUSED when no plugin of the network publishes ports
 */
export function requirePortMappings({ list }: Pick<Site, 'list'>): void {
  if (list.plugins.some(({ capabilities }) => capabilities['portMappings'] === true)) return;
  throw new BenchError('BENCH_REFUSED', `network ${list.name} publishes no ports`, {
    hint: 'it needs a plugin with "capabilities": {"portMappings": true}',
  });
}

async function fillReservations({ list, node }: Site, count: number): Promise<void> {
  const ipam = list.plugins.map(({ raw }) => raw['ipam']).find((each) => each !== undefined);
  if (!isJsonObject(ipam) || ipam['type'] !== 'host-local') {
    throw new BenchError(
      'BENCH_REFUSED',
      `network ${list.name} has no host-local, so nothing can be reserved`,
    );
  }
  const dataDir = typeof ipam['dataDir'] === 'string' ? ipam['dataDir'] : DEFAULT_DATA_DIR;
  const store = fileStore({ directory: join(node.root, dataDir, list.name) });
  await store.exclusive((ledger) => {
    for (const [index, [range]] of rangeSetsOf(ipam).entries()) {
      const noRoom = () =>
        new BenchError('BENCH_REFUSED', `${range.subnet} has no room for ${count} reservations`);
      if (range.addresses.size() < count) throw noRoom();
      let last: Addr | undefined;
      let reserved = 0;
      for (
        let addr: Addr | undefined = range.addresses.first;
        addr !== undefined && range.addresses.contains(addr) && reserved < count;
        addr = addr.next()
      ) {
        if (range.gateway?.equals(addr) === true) continue;
        if (ledger.reserve(addr, { containerID: `others-${reserved}`, ifName: 'eth0' })) reserved++;
        last = addr;
      }
      if (reserved < count) throw noRoom();
      if (last !== undefined) ledger.remember(index, last);
    }
  });
}

function rangeSetsOf(ipam: Readonly<Record<string, JsonValue>>) {
  const own = typeof ipam['subnet'] === 'string' ? [[ipam]] : [];
  const ranges = Array.isArray(ipam['ranges']) ? ipam['ranges'] : [];
  return resolveRangeSets(
    [...own, ...ranges].map((set) => (Array.isArray(set) ? set : []).filter(isJsonObject).map(rangeConfigOf)),
  );
}

function rangeConfigOf({ subnet, rangeStart, rangeEnd, gateway }: Readonly<Record<string, JsonValue>>) {
  return {
    subnet: Prefix.parse(String(subnet)),
    ...(typeof rangeStart === 'string' && { rangeStart: Addr.parse(rangeStart) }),
    ...(typeof rangeEnd === 'string' && { rangeEnd: Addr.parse(rangeEnd) }),
    ...(typeof gateway === 'string' && { gateway: Addr.parse(gateway) }),
  };
}

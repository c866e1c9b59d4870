/** How full the networks' addresses are, by the names of host-local's files alone: a scrape must not read thousands. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PoolUse } from '@heddle/agent';
import { listConfigDir } from '@heddle/cni/runtime';
import { measure, type RangeSet } from '@heddle/ipam';
import { Addr } from '@heddle/netaddr';
import { type ConfiguredPools, configuredPools } from '@heddle/plugins';

/** Where to look. */
export interface PoolPlaces {
  readonly configDir: string;
  readonly reservationDir: string;
}

/** The use of all pools: those of networks that are configured, and of those that only have reservations left. */
export function poolUse({ configDir, reservationDir }: PoolPlaces): readonly PoolUse[] {
  const configured = listConfigDir(configDir).networks.flatMap(({ list: { name, plugins } }) =>
    plugins.flatMap(({ raw }) => usesOf(name, configuredPools(raw))),
  );
  const known = new Set(configured.map(({ network }) => network));
  const others = namesIn(reservationDir)
    .filter((network) => !known.has(network))
    .flatMap((network) => {
      const held = heldIn(join(reservationDir, network));
      return FAMILIES.map((family) => ({
        ...{ network, family },
        used: held.filter((addr) => addr.family === family).length,
      })).filter(({ used }) => used > 0);
    });
  return [...merged(configured), ...others];
}

const FAMILIES = [4, 6] as const;

function usesOf(network: string, pools: ConfiguredPools | undefined): readonly Required<PoolUse>[] {
  if (pools === undefined) return [];
  const held = heldIn(join(pools.dataDir, network));
  return pools.rangeSets.map((set) => useOf(network, set, held));
}

function useOf(network: string, set: RangeSet, held: readonly Addr[]): Required<PoolUse> {
  const { size, used } = measure(set, held);
  return { network, family: set[0].subnet.family, used: Number(used), size: Number(size) };
}

/** One entry for a network and family, though several range sets or plugins may serve it. */
function merged(uses: readonly Required<PoolUse>[]): readonly PoolUse[] {
  const byKey = new Map<string, Required<PoolUse>>();
  for (const use of uses) {
    const key = `${use.family} ${use.network}`;
    const before = byKey.get(key);
    const sums = before && { used: before.used + use.used, size: (before.size ?? 0) + (use.size ?? 0) };
    byKey.set(key, { ...use, ...sums });
  }
  return [...byKey.values()];
}

function heldIn(directory: string): readonly Addr[] {
  return namesIn(directory).flatMap((name) => Addr.tryParse(name) ?? []);
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

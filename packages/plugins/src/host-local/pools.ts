/** What host-local can give out for a network, read from the network's configuration. */
import { isJsonObject, type JsonObject } from '@heddle/cni';
import { DEFAULT_DATA_DIR, type RangeSet, resolveRangeSets } from '@heddle/ipam';
import * as v from 'valibot';
import { configuredSets, hostLocalConfig } from './config.ts';

/** The address pools of one plugin of a network. */
export interface ConfiguredPools {
  /** Where its reservations are: a directory that has one for each network. */
  readonly dataDir: string;
  readonly rangeSets: readonly RangeSet[];
}

/**
 * The pools that the configuration of a plugin names.
 *
 * @param raw the plugin's object in the network's configuration
 * @returns undefined when host-local does not serve it, or what it says is not valid
 */
export function configuredPools(raw: JsonObject): ConfiguredPools | undefined {
  const ipam = raw['ipam'];
  if (!isJsonObject(ipam) || ipam['type'] !== 'host-local') return undefined;
  const { success, output } = v.safeParse(hostLocalConfig, raw);
  if (!success) return undefined;
  const { dataDir = '' } = output.ipam ?? {};
  try {
    const rangeSets = resolveRangeSets(configuredSets(output));
    return { dataDir: dataDir === '' ? DEFAULT_DATA_DIR : dataDir, rangeSets };
  } catch {
    // Its own ADD says what is wrong with it.
    return undefined;
  }
}

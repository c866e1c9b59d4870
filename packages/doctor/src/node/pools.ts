/** The pools that host-local gives addresses out of, as the networks of the node configure them. */
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue, type NetworkConfigList } from '@heddle/cni';
import { HeddleError } from '@heddle/errors';
import { measure, type RangeConfig, type RangeSet, resolveRangeSets, type Usage } from '@heddle/ipam';
import { Addr, Prefix } from '@heddle/netaddr';
import type { NetworkReservation } from '../inventory/reservations.ts';

/** One network's range sets, and who holds what of them. */
export interface Pool {
  readonly network: string;
  readonly file: string | undefined;
  /** The network's own directory of reservations. */
  readonly directory: string;
  readonly sets: readonly RangeSet[];
  readonly held: readonly NetworkReservation[];
  /** Of each set. */
  readonly usage: readonly Usage[];
}

/** Where pools are described and kept. */
export interface PoolSources {
  readonly lists: readonly NetworkConfigList[];
  readonly reservations: readonly NetworkReservation[];
  /** Where reservations are unless a configuration says otherwise. */
  readonly reservationDir: string;
}

/** The pools; configurations that cannot be resolved have none (the audit tells why). */
export function poolsOf({ lists, reservations, reservationDir }: PoolSources): readonly Pool[] {
  return lists.flatMap(({ name, file, plugins }) =>
    plugins.flatMap(({ raw, ipamType }): readonly Pool[] => {
      const ipam = raw['ipam'];
      if (ipamType !== 'host-local' || !isJsonObject(ipam)) return [];
      const sets = setsOf(ipam);
      if (sets.length === 0) return [];
      const dataDir =
        typeof ipam['dataDir'] === 'string' && ipam['dataDir'] !== '' ? ipam['dataDir'] : reservationDir;
      const directory = join(dataDir, name);
      const held = reservations.filter(({ path }) => path.startsWith(`${directory}/`));
      const addrs = held.flatMap(({ addr }) => Addr.tryParse(addr) ?? []);
      return [{ network: name, file, directory, sets, held, usage: sets.map((set) => measure(set, addrs)) }];
    }),
  );
}

function setsOf(ipam: JsonObject): readonly RangeSet[] {
  const single = rangeOf(ipam);
  const listed = Array.isArray(ipam['ranges']) ? ipam['ranges'] : [];
  const sets = [
    ...(single === undefined ? [] : [[single]]),
    ...listed.map((set: JsonValue) =>
      Array.isArray(set)
        ? set.flatMap((range: JsonValue) => (isJsonObject(range) ? (rangeOf(range) ?? []) : []))
        : [],
    ),
  ].filter((set) => set.length > 0);
  try {
    return resolveRangeSets(sets);
  } catch (error) {
    if (error instanceof HeddleError) return [];
    throw error;
  }
}

function rangeOf(json: JsonObject): RangeConfig | undefined {
  const text = (key: string) =>
    typeof json[key] === 'string' && json[key] !== '' ? String(json[key]) : undefined;
  const addr = (key: string) => {
    const value = text(key);
    return value === undefined ? undefined : Addr.tryParse(value);
  };
  const subnet = Prefix.tryParse(text('subnet') ?? '');
  if (subnet === undefined) return undefined;
  const [rangeStart, rangeEnd, gateway] = [addr('rangeStart'), addr('rangeEnd'), addr('gateway')];
  return {
    subnet,
    ...(rangeStart !== undefined && { rangeStart }),
    ...(rangeEnd !== undefined && { rangeEnd }),
    ...(gateway !== undefined && { gateway }),
  };
}

/** What the kernel has at places of ours, kind by kind. */
import { ROUTE_METRIC } from '@heddle/dataplane';
import type { KernelSession, Route } from '@heddle/netlink';
import { routeKey } from '../calculate/desired.ts';
import { OVERLAY_DEVICES } from '../calculate/overlays.ts';
import {
  type Devices,
  type Found,
  foundAddress,
  foundFdb,
  foundNeighbour,
  foundRoute,
  type TableObject,
} from './tables.ts';

/** A kind of object in the kernel's tables. */
export type TableKind = TableObject['kind'];

/** In the order in which they are made; they are deleted in the reverse. */
export const TABLE_KINDS: readonly TableKind[] = ['address', 'neighbour', 'fdb', 'route'];

/** What a listing finds. */
export interface Listed {
  readonly found: readonly Found[];
  /** Routes of others that come before ours: key of ours → what is there. */
  readonly shadows: ReadonlyMap<string, string>;
}

/** Lists one kind. */
export async function listKind(session: KernelSession, devices: Devices, kind: TableKind): Promise<Listed> {
  const none = new Map<string, string>();
  switch (kind) {
    case 'address': {
      const all = await session.addresses.list();
      return {
        found: defined(all.map((each) => foundAddress(session.addresses, devices, each))),
        shadows: none,
      };
    }
    case 'neighbour': {
      const found: Found[] = [];
      for (const link of devices.names.keys()) {
        const all = await session.neighbours.list({ link });
        found.push(...defined(all.map((each) => foundNeighbour(session.neighbours, devices, each))));
      }
      return { found, shadows: none };
    }
    case 'fdb': {
      const found: Found[] = [];
      for (const [link, name] of devices.names) {
        if (!isVxlan(name)) continue;
        const all = await session.bridge.fdb({ link });
        found.push(...defined(all.map((each) => foundFdb(session.bridge, devices, each))));
      }
      return { found, shadows: none };
    }
    case 'route': {
      const all = await session.routes.list({ table: 254 });
      const found = defined(all.map((each) => foundRoute(session.routes, devices, each)));
      return { found, shadows: shadowsIn(all) };
    }
  }
}

function isVxlan(name: string): boolean {
  return OVERLAY_DEVICES.some((device) => device.name === name && device.overlay === 'vxlan');
}

function shadowsIn(routes: readonly Route[]): ReadonlyMap<string, string> {
  const shadows = new Map<string, string>();
  for (const { dst, metric = 0, protocol } of routes) {
    if (metric < ROUTE_METRIC) shadows.set(routeKey(dst), `protocol ${protocol} with metric ${metric}`);
  }
  return shadows;
}

function defined<T>(items: readonly (T | undefined)[]): readonly T[] {
  return items.filter((item) => item !== undefined);
}

/** The VRF device: routing that its ports share with nobody else. All interfaces of a VRF share it. */
import { CNI_CODE, CniError } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import { ROUTING_TABLES } from '@heddle/dataplane';
import type { KernelSession, Link, LinkRef } from '@heddle/netlink';
import { freeTables } from '../interface/route-tables.ts';
import type { VrfConfig } from './config.ts';

/** A VRF device, and where its ports' routes are. */
export interface Vrf {
  readonly name: string;
  readonly index: number;
  readonly table: number;
}

/** The VRF that a link is; `undefined` for any other link. */
export function vrfOf({ name, index, data }: Link): Vrf | undefined {
  return data?.kind === 'vrf' && data.table !== undefined ? { name, index, table: data.table } : undefined;
}

/**
 * The VRF of that name, if there is a link of it.
 *
 * @throws {CniError} code 141 when the link is no VRF, or one of another table than is configured
 */
export async function findVrf(
  container: KernelSession,
  { vrfname, table }: VrfConfig,
): Promise<Vrf | undefined> {
  const link = await container.links.find(vrfname);
  if (link === undefined) return undefined;
  const vrf = vrfOf(link);
  if (vrf === undefined) {
    throw new CniError(
      CNI_CODE.EXISTS,
      `link ${vrfname} is no VRF but a ${link.kind ?? 'link without a kind'}`,
    );
  }
  if (table !== 0 && vrf.table !== table) {
    throw new CniError(
      CNI_CODE.EXISTS,
      `VRF ${vrfname} already exist with different routing table: ${vrf.table}, not ${table}`,
    );
  }
  return vrf;
}

/** Makes the VRF, up, and registers its undo. Without a table configured, it gets one that nobody has anything to do with. */
export async function addVrf({ config, container, undo }: AddCall<VrfConfig>): Promise<Vrf> {
  const name = config.vrfname;
  const table = config.table === 0 ? await chooseTable(container) : config.table;
  await container.links.add({ name, kind: 'vrf', table, up: true });
  undo.push(`delete link ${name}`, () => deleteIfEmpty(container, name));
  const { index } = await container.links.get(name);
  return { name, index, table };
}

/** Deletes the VRF when no link is in it any more. */
export async function deleteIfEmpty(container: KernelSession, vrf: LinkRef): Promise<void> {
  const ports = await container.links.list({ master: vrf });
  if (ports.length === 0) await container.links.delete(vrf);
}

async function chooseTable({ links, rules, routes }: KernelSession): Promise<number> {
  const vrfs = (await links.list({ kind: 'vrf' })).flatMap((link) => vrfOf(link) ?? []);
  const users = [...vrfs, ...(await rules.list()), ...(await routes.list())];
  const [table = 0] = freeTables(ROUTING_TABLES.vrf, 1, new Set(users.map((user) => user.table)));
  return table;
}

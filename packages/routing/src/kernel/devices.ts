/** The overlay devices as the kernel has them: made, kept, taken away. */
import { fillInChecksums, LINK_GROUPS, leavesChecksums, UDP_PORTS, VNIS } from '@heddle/dataplane';
import {
  type KernelSession,
  type Link,
  type LinkDataSpec,
  type LinkKindSpec,
  NetlinkError,
} from '@heddle/netlink';
import type { DesiredLink } from '../calculate/desired.ts';
import { OVERLAY_DEVICES } from '../calculate/overlays.ts';

/** What tells a link of ours, beside its group: either is enough, so that whoever changes one does not take it from us. */
const ALIAS = 'heddle: network of the cluster';

/** What came of bringing the devices to what is wanted. */
export interface DeviceOutcome {
  /** Those that are as they should be: name → index. */
  readonly indexes: ReadonlyMap<string, number>;
  /** Why others are not: key of the link → reason. */
  readonly failures: ReadonlyMap<string, string>;
  /** How many changes it took. */
  readonly changes: number;
}

/**
 * Makes the wanted devices, changes those that are otherwise, and deletes those of ours that are not wanted.
 *
 * @param fillsInChecksums whether VXLAN devices must leave no checksums to an offload
 */
export async function syncDevices(
  session: KernelSession,
  wanted: ReadonlyMap<string, DesiredLink>,
  fillsInChecksums: boolean,
): Promise<DeviceOutcome> {
  const { links } = session;
  const all = await links.list();
  const indexes = new Map<string, number>();
  const failures = new Map<string, string>();
  let changes = 0;
  for (const { name } of OVERLAY_DEVICES) {
    const found = all.find((link) => link.name === name);
    const link = wanted.get(name);
    try {
      if (link === undefined) {
        if (found === undefined || !isOurs(found)) continue;
        await links.delete(found.index);
        changes++;
        continue;
      }
      if (found !== undefined && !isOurs(found)) {
        failures.set(
          link.key,
          `a link of this name is there, and is not Heddle's (${found.kind ?? 'hardware'})`,
        );
        continue;
      }
      let sent = found === undefined ? await make(session, link) : await change(session, found, link);
      if (fillsInChecksums && link.data.kind === 'vxlan' && leavesChecksums(session, name)) {
        fillInChecksums(session, name);
        sent++;
      }
      changes += sent;
      indexes.set(name, sent === 0 && found !== undefined ? found.index : (await links.get(name)).index);
    } catch (error) {
      failures.set(`link ${name}`, reasonOf(error, link, all));
    }
  }
  return { indexes, failures, changes };
}

/** Deletes all overlay devices of ours. */
export async function deleteDevices(session: KernelSession): Promise<void> {
  await syncDevices(session, new Map(), false);
}

/** Whether a link is one of our overlay devices. */
function isOurs({ group, alias, name }: Link): boolean {
  return (
    OVERLAY_DEVICES.some((device) => device.name === name) &&
    (group === LINK_GROUPS.cluster || alias === ALIAS)
  );
}

async function make({ links }: KernelSession, { name, mtu, data }: DesiredLink): Promise<number> {
  const mac = 'mac' in data ? data.mac : undefined;
  await links.add({ name, mtu, mac, group: LINK_GROUPS.cluster, up: true, ...kindSpec(data) });
  // The kernel ignores an alias in the message that makes a link.
  await links.set(name, { alias: ALIAS });
  return 2;
}

async function change(session: KernelSession, found: Link, wanted: DesiredLink): Promise<number> {
  if (!isOfKind(found, wanted)) {
    await session.links.delete(found.index);
    return 1 + (await make(session, wanted));
  }
  const different = differences(found, wanted);
  if (Object.keys(different).length === 0) return 0;
  await session.links.set(found.index, different);
  return 1;
}

/** Whether it can be made what is wanted without making it anew. */
function isOfKind({ kind, data }: Link, wanted: DesiredLink): boolean {
  if (kind !== wanted.data.kind) return false;
  if (wanted.data.kind === 'vxlan') {
    return (
      data?.kind === 'vxlan' &&
      data.id === VNIS.cluster &&
      data.port === UDP_PORTS.vxlan &&
      data.external !== true &&
      data.link === undefined &&
      data.remote === undefined &&
      data.local?.family === wanted.data.local.family
    );
  }
  if (wanted.data.kind === 'geneve') {
    return data?.kind === 'geneve' && data.external === true && data.port === UDP_PORTS.geneve;
  }
  return data?.kind === 'ipip' && data.remote === undefined && data.local !== undefined;
}

function differences(link: Link, { mtu, data }: DesiredLink) {
  const options = optionsOf(link, data);
  const mac = 'mac' in data && !(link.mac?.equals(data.mac) ?? false) ? data.mac : undefined;
  return {
    ...(link.mtu !== mtu && { mtu }),
    ...(!link.up && { up: true }),
    ...(link.group !== LINK_GROUPS.cluster && { group: LINK_GROUPS.cluster }),
    ...(link.alias !== ALIAS && { alias: ALIAS }),
    ...(mac !== undefined && { mac }),
    ...(link.master !== undefined && { master: 0 }),
    ...(options !== undefined && { data: options }),
  };
}

/** What the kernel can change in a device that stays, and with it its routes: where it sends from, for one. */
function optionsOf({ data }: Link, wanted: DesiredLink['data']): LinkDataSpec | undefined {
  if (wanted.kind === 'vxlan' && data?.kind === 'vxlan') {
    const isSame = data.learning === false && data.local?.equals(wanted.local) === true;
    return isSame ? undefined : { kind: 'vxlan', local: wanted.local, learning: false };
  }
  if (wanted.kind === 'ipip' && data?.kind === 'ipip') {
    return data.local?.equals(wanted.local) === true ? undefined : { kind: 'ipip', local: wanted.local };
  }
  return undefined;
}

function kindSpec(data: DesiredLink['data']): LinkKindSpec {
  switch (data.kind) {
    case 'vxlan':
      return { kind: 'vxlan', id: VNIS.cluster, port: UDP_PORTS.vxlan, local: data.local, learning: false };
    case 'geneve':
      return { kind: 'geneve', external: true, port: UDP_PORTS.geneve };
    case 'ipip':
      return { kind: 'ipip', local: data.local };
  }
}

function reasonOf(error: unknown, wanted: DesiredLink | undefined, all: readonly Link[]): string {
  const reason = error instanceof Error ? error.message : String(error);
  if (wanted?.data.kind !== 'vxlan' || !NetlinkError.is(error, 'EEXIST', 'EADDRINUSE')) return reason;
  const other = all.find(
    ({ data }) => data?.kind === 'vxlan' && data.id === VNIS.cluster && data.port === UDP_PORTS.vxlan,
  );
  const clash = `VNI ${VNIS.cluster} on UDP port ${UDP_PORTS.vxlan} is in use`;
  return `${clash}${other === undefined ? '' : ` by link ${other.name}, which is not Heddle's`}: ${reason}`;
}

/**
 * The firewall: what pods send, and what answers them, is let through where the node would forward nothing by itself;
 * and bridges can be kept apart.
 *
 * Three backends: the reference's chains in the filter tables of iptables, sources in a zone of firewalld, or a chain of
 * ours in nftables. Whatever lets an address through, its owner is in two sets of ours, so that it is found again
 * without being told, and garbage collection knows whose it is. Removal takes away what any of them wrote.
 */
import { type AttachmentId, CNI_CODE, CniError } from '@heddle/cni';
import { ErrorList } from '@heddle/errors';
import type { Addr } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';
import { hasLegacyTable } from '../iptables/kind.ts';
import { programsIn } from '../iptables/programs.ts';
import { legacySuffix, restoreTable } from '../iptables/restore.ts';
import type { TableChange } from '../iptables/table.ts';
import { changeNftTables, changeTables, readTable } from '../iptables/tables.ts';
import { elementText, isOwnedBy, type OwnedElement } from '../owned-elements.ts';
import type { StaleFilter } from '../stale-filter.ts';
import { tablesOf } from '../tables.ts';
import { Firewalld } from './firewalld.ts';
import {
  FORWARD_CHAIN,
  type ForwardRules,
  forwardChains,
  type Isolation,
  missingForwardRules,
  planForwardRemoval,
  planForwardRules,
} from './forward-rules.ts';
import { acceptChanges, missingInFirewall, refuseChanges } from './nft-layout.ts';
import { disownChanges, freed, ownedAddress, ownershipChanges, readOwners } from './owners.ts';

/** What lets packets through. */
export type FirewallBackend = 'iptables' | 'firewalld' | 'nftables';

/** What removal has to know. */
export interface FirewallSurroundings {
  /** The socket of the system's message bus, where firewalld may have been asked; absent: it was not. */
  readonly bus?: string;
  /** The zone of firewalld. */
  readonly zone: string;
}

/** How the firewall lets packets through. */
export interface FirewallOptions extends FirewallSurroundings {
  readonly backend: FirewallBackend;
  /** The operator's chain of iptables, which comes before ours. */
  readonly adminChain: string;
  readonly isolation?: Isolation;
}

/** The path of the system's message bus. Source: D-Bus Specification, System message bus. */
export const SYSTEM_BUS = '/run/dbus/system_bus_socket';

/** The backend where nobody chose: firewalld if it runs, else iptables. */
export async function detectFirewall(bus: string): Promise<FirewallBackend> {
  using firewalld = await Firewalld.find(bus);
  return firewalld === undefined ? 'iptables' : 'firewalld';
}

/**
 * Lets the packets of addresses through. Addresses that the owner had before, and has no more, are let through no
 * longer.
 *
 * @throws {NetlinkError} when the kernel refuses, {IptablesError} when iptables does, {DBusError} when firewalld does
 */
export async function addFirewall(
  host: KernelSession,
  owner: AttachmentId,
  addresses: readonly Addr[],
  options: FirewallOptions,
): Promise<void> {
  const { backend, zone, isolation } = options;
  // First, for it may not be there.
  using firewalld = backend === 'firewalld' ? await firewalldAt(options) : undefined;
  const before = await readOwners(host);
  await removeAddresses(
    host,
    before.filter((each) => isOwnedBy(each, owner) && !isAmong(addresses, ownedAddress(each))),
    [],
    options,
  );
  if (addresses.length === 0) return;
  await changeTables(host, backend === 'nftables' ? [] : tableChanges(addresses, options), async () => [
    ...ownershipChanges(await readOwners(host), owner, addresses),
    ...(backend === 'nftables' ? await acceptChanges(host, addresses, isolation) : []),
  ]);
  for (const addr of addresses) await firewalld?.add(zone, addr);
}

/**
 * No longer lets an owner's packets through, whatever did. Nothing there is fine.
 *
 * @param addresses those that are known to be the owner's, should there be no record
 */
export async function removeFirewall(
  host: KernelSession,
  owner: AttachmentId,
  addresses: readonly Addr[],
  surroundings: FirewallSurroundings,
): Promise<void> {
  const own = (await readOwners(host)).filter((each) => isOwnedBy(each, owner));
  await removeAddresses(host, own, addresses, surroundings);
}

/** No longer lets through the packets of owners that are stale. */
export async function gcFirewall(
  host: KernelSession,
  gc: StaleFilter,
  surroundings: FirewallSurroundings,
): Promise<void> {
  const stale = await gc.stale(
    () => readOwners(host),
    ({ owner }) => owner?.tag,
  );
  if (stale.length > 0) await removeAddresses(host, stale, [], surroundings);
}

/**
 * Finds out whether everything is as {@link addFirewall} left it, or the same backend of the reference.
 *
 * @throws {CniError} code 150 that says what is missing
 */
export async function checkFirewall(
  host: KernelSession,
  addresses: readonly Addr[],
  options: FirewallOptions,
): Promise<void> {
  const { backend, zone, isolation } = options;
  const missing: string[] = [];
  if (backend === 'nftables') missing.push(...(await missingInFirewall(host, addresses, isolation)));
  else {
    for (const { family, rules } of familyRules(addresses, options)) {
      const table = await readTable(host, { family, table: 'filter', chains: forwardChains(rules) });
      missing.push(...missingForwardRules(rules, table).map((text) => `IPv${family} filter rule ${text}`));
    }
  }
  if (backend === 'firewalld') {
    using firewalld = await firewalldAt(options);
    for (const addr of addresses) {
      if (!(await firewalld.has(zone, addr))) missing.push(`source ${addr} of zone ${zone}`);
    }
  }
  if (missing.length === 0) return;
  throw new CniError(CNI_CODE.DRIFT, `firewall of ${addresses.join(', ')}: missing ${missing.join('; ')}`);
}

/** Those of iptables, by family; without addresses of a family there are none. */
function familyRules(
  addresses: readonly Addr[],
  { backend, adminChain, isolation }: FirewallOptions,
): readonly { readonly family: 4 | 6; readonly rules: ForwardRules }[] {
  return ([4, 6] as const)
    .map((family) => ({
      family,
      rules: {
        addresses: addresses.filter((addr) => addr.family === family),
        ...(backend === 'iptables' && { adminChain }),
        ...(isolation !== undefined && { isolation }),
      },
    }))
    .filter(({ rules }) => rules.addresses.length > 0)
    .filter(({ rules }) => 'adminChain' in rules || 'isolation' in rules);
}

function tableChanges(addresses: readonly Addr[], options: FirewallOptions): readonly TableChange[] {
  return familyRules(addresses, options).map(({ family, rules }) => ({
    ...{ family, table: 'filter', chains: forwardChains(rules), plan: planForwardRules(rules) },
  }));
}

/**
 * Takes away what is written about addresses, as far as nobody else has them, and then the records. Where something
 * could not be taken away the records stay, for the next attempt.
 */
async function removeAddresses(
  host: KernelSession,
  records: readonly OwnedElement[],
  more: readonly Addr[],
  { bus, zone }: FirewallSurroundings,
): Promise<void> {
  const unwanted = [...records.flatMap((each) => ownedAddress(each) ?? []), ...more];
  if (unwanted.length === 0) return;
  const problems: unknown[] = [];
  const attempt = (run: () => Promise<void>) => run().catch((error: unknown) => void problems.push(error));
  const addresses = freed(unwanted, await readOwners(host), records);
  for (const family of [4, 6] as const) {
    if (addresses.some((addr) => addr.family === family) && hasLegacyTable(host, family, 'filter')) {
      const port = programsIn(host);
      await attempt(() =>
        restoreTable(
          port,
          removalOf(family, () => addresses),
          legacySuffix(port, family),
        ),
      );
    }
  }
  if (bus !== undefined && addresses.length > 0) {
    await attempt(async () => {
      using firewalld = await Firewalld.find(bus);
      for (const addr of addresses) await firewalld?.remove(zone, addr);
    });
  }
  await attempt(() => removeFromNftables(host, records, unwanted, problems.length === 0));
  ErrorList.throwIfAny('close the firewall', problems);
}

/** Here it is decided in the transaction itself who else has an address. */
async function removeFromNftables(
  host: KernelSession,
  records: readonly OwnedElement[],
  unwanted: readonly Addr[],
  andRecords: boolean,
): Promise<void> {
  const tables = await tablesOf(host);
  const gone = new Set(records.map(({ element }) => elementText(element)));
  let addresses: readonly Addr[] = [];
  const changes = ([4, 6] as const)
    .filter((family) => tables.has(family === 4 ? 'ip filter' : 'ip6 filter'))
    .map((family) => removalOf(family, () => addresses));
  await changeNftTables(host, changes, async () => {
    const present = await readOwners(host);
    addresses = freed(unwanted, present, records);
    const left = present.filter(({ element }) => gone.has(elementText(element)));
    return [...(await refuseChanges(host, addresses)), ...(andRecords ? disownChanges(left) : [])];
  });
}

function removalOf(family: 4 | 6, addresses: () => readonly Addr[]): TableChange {
  return {
    ...{ family, table: 'filter', chains: [FORWARD_CHAIN] },
    plan: (table) => planForwardRemoval(addresses().filter((addr) => addr.family === family))(table),
  };
}

async function firewalldAt({ bus = SYSTEM_BUS }: FirewallSurroundings): Promise<Firewalld> {
  const firewalld = await Firewalld.find(bus);
  if (firewalld !== undefined) return firewalld;
  throw new CniError(CNI_CODE.TRY_AGAIN, 'firewalld does not run', {
    hint: 'start it, or let the configuration name another backend',
  });
}

function isAmong(addresses: readonly Addr[], addr: Addr | undefined): boolean {
  return addresses.some((each) => String(each) === String(addr));
}

/** Runs the contract against the kernel of this machine, in namespaces of its own. */
import { describe, test } from 'node:test';
import { createNetns } from '@heddle/sys';
import { NetlinkError } from '../../core/netlink-error.ts';
import type { LinkSpec } from '../../link/changes.ts';
import { openSession } from '../../session/session.ts';
import { type Case, CONTRACT } from './index.ts';
import { reasonToSkip } from './kernel-release.ts';

/** A test for each of the chosen cases; those that need what the kernel lacks are skipped, and say so. */
export async function testContract(isChosen: (each: Case) => boolean): Promise<void> {
  const present = await presentParts();
  for (const [table, cases] of Object.entries(CONTRACT)) {
    const chosen = cases.filter(isChosen);
    if (chosen.length === 0) continue;
    describe(`a real kernel keeps the contract: ${table}`, () => {
      for (const each of chosen) testCase(each, present);
    });
  }
}

function testCase({ name, needs = [], run }: Case, present: ReadonlySet<string>): void {
  const missing = needs.filter((each) => !present.has(each));
  test(name, async (t) => {
    const old = reasonToSkip();
    if (old !== undefined) {
      t.skip(old);
      return;
    }
    if (missing.length > 0) {
      t.skip(`this kernel has no ${missing.join(', ')}`);
      return;
    }
    using hostNetns = createNetns();
    using podNetns = createNetns();
    using host = openSession({ netns: hostNetns, mode: 'sync' });
    using pod = openSession({ netns: podNetns, mode: 'sync' });
    await run({ host, pod });
  });
}

/** How a part of the kernel is tried out. */
const PROBES: Readonly<Record<string, LinkSpec>> = {
  'bridge-vlan': { name: 'hdtry', kind: 'bridge', vlanFiltering: true },
  dummy: { name: 'hdtry', kind: 'dummy' },
  ifb: { name: 'hdtry', kind: 'ifb' },
  ipvlan: { name: 'hdtry', kind: 'ipvlan', parent: 'hd0', mode: 'l2' },
  macvlan: { name: 'hdtry', kind: 'macvlan', parent: 'hd0', mode: 'bridge' },
  vlan: { name: 'hdtry', kind: 'vlan', parent: 'hd0', id: 1 },
  vrf: { name: 'hdtry', kind: 'vrf', table: 10 },
  vxlan: { name: 'hdtry', kind: 'vxlan', id: 1, port: 4789 },
};

async function presentParts(): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const [what, spec] of Object.entries(PROBES)) {
    using netns = createNetns();
    using session = openSession({ netns, mode: 'sync' });
    await session.links.add({ name: 'hd0', kind: 'veth', peer: { name: 'hd1' } });
    try {
      await session.links.add(spec);
      found.add(what);
    } catch (error) {
      if (!NetlinkError.is(error, 'EOPNOTSUPP')) throw error;
    }
  }
  return found;
}

/** Whether the kernel can do something, found out by doing it in a namespace that is thrown away. */
import { HeddleError } from '@heddle/errors';
import { Prefix } from '@heddle/netaddr';
import {
  add,
  chain,
  ip,
  type KernelSession,
  type LinkSpec,
  masquerade,
  match,
  openSession,
  rule,
  table,
  tcHandle,
} from '@heddle/netlink';
import { createNetns } from '@heddle/sys';

/** Probes features of the kernel by name. */
export interface Features {
  /** Why the kernel cannot do it; nothing when it can, or when nobody knows how to try. */
  problem(feature: string): Promise<string | undefined>;
}

/** The kernel of this machine. Each feature is tried in a namespace of its own. */
export const kernelFeatures: Features = {
  async problem(feature) {
    const probe = PROBES[feature];
    if (probe === undefined) return undefined;
    using netns = createNetns();
    using session = openSession({ netns, mode: 'sync' });
    try {
      await probe(session);
      return undefined;
    } catch (error) {
      if (error instanceof HeddleError) return error.message;
      throw error;
    }
  },
};

type Probe = (session: KernelSession) => Promise<unknown>;

const VETH: LinkSpec = { name: 'probe0', kind: 'veth', peer: { name: 'probe1' } };

/** A link that sits on a veth. */
function upon(spec: LinkSpec): Probe {
  return async ({ links }) => {
    await links.add(VETH);
    await links.add({ ...spec, parent: 'probe0' });
  };
}

const alone =
  (spec: LinkSpec): Probe =>
  ({ links }) =>
    links.add(spec);

const PROBES: Readonly<Record<string, Probe>> = {
  'link veth': alone(VETH),
  'link bridge': alone({ name: 'probe', kind: 'bridge' }),
  'link bridge with VLANs': alone({ name: 'probe', kind: 'bridge', vlanFiltering: true }),
  'link dummy': alone({ name: 'probe', kind: 'dummy' }),
  'link ifb': alone({ name: 'probe', kind: 'ifb' }),
  'link vrf': alone({ name: 'probe', kind: 'vrf', table: 100 }),
  'link macvlan': upon({ name: 'probe', kind: 'macvlan', mode: 'bridge' }),
  'link ipvlan': upon({ name: 'probe', kind: 'ipvlan', mode: 'l2' }),
  'link vlan': upon({ name: 'probe', kind: 'vlan', id: 5 }),
  'nft filter': ({ nft }) => nft.commit(ruleset('filter', 'forward')),
  'nft nat': ({ nft }) => nft.commit(ruleset('nat', 'postrouting')),
  'tc tbf': async ({ links, qdiscs }) => {
    await links.add(VETH);
    await qdiscs.add({
      link: 'probe0',
      kind: 'tbf',
      handle: tcHandle(1),
      rate: 125_000,
      buffer: 1e6,
      limit: 10_000,
    });
  },
  'tc ingress': async ({ links, qdiscs }) => {
    await links.add(VETH);
    await qdiscs.add({ link: 'probe0', kind: 'ingress' });
  },
};

function ruleset(type: 'filter' | 'nat', hook: 'forward' | 'postrouting') {
  const at = { family: 'ip', table: 'probe' } as const;
  const base = { type, hook, priority: 0 } as const;
  const from = match(ip.saddr, 'eq', Prefix.parse('192.0.2.0/24'));
  return [
    add(table({ family: 'ip', name: 'probe' })),
    add(chain({ ...at, name: 'probe', base })),
    add(rule({ ...at, chain: 'probe', expressions: type === 'nat' ? [from, masquerade()] : [from] })),
  ];
}

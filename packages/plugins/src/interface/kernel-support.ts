/** Whether the kernel has what a plugin needs, found out without changing anything. */
import { UnavailableError } from '@heddle/cni';
import { type KernelSession, type LinkKindSpec, NetlinkError } from '@heddle/netlink';

/**
 * Asks for a link whose name no link can have: the kernel looks for the kind first, and loads its module where
 * there is one.
 *
 * @throws {UnavailableError} code 50 when the kernel has no links of this kind
 */
export async function requireLinkKind(session: KernelSession, kind: keyof typeof LINKS): Promise<void> {
  try {
    await session.links.add({ ...LINKS[kind], name: IMPOSSIBLE });
  } catch (error) {
    if (!NetlinkError.is(error, 'EOPNOTSUPP')) return;
    throw new UnavailableError('NOT_READY', `this kernel has no links of the kind ${kind}`, { cause: error });
  }
}

/**
 * Asks for a queueing discipline on `lo` without the options that it must have: the kernel looks for the kind first.
 *
 * @throws {UnavailableError} code 50 when the kernel has no such discipline
 */
export async function requireQdisc(session: KernelSession, kind: 'tbf'): Promise<void> {
  try {
    await session.qdiscs.add({ link: 'lo', kind: 'raw', name: kind });
  } catch (error) {
    if (!NetlinkError.is(error, 'ENOENT')) return;
    throw new UnavailableError('NOT_READY', `this kernel has no queueing discipline ${kind}`, {
      cause: error,
    });
  }
}

const IMPOSSIBLE = 'a/b';

/** What the kernel must be told to know that one of a kind is meant. */
const LINKS = {
  dummy: { kind: 'dummy' },
  ifb: { kind: 'ifb' },
  ipvlan: { kind: 'ipvlan' },
  macvlan: { kind: 'macvlan' },
  vlan: { kind: 'vlan' },
  vrf: { kind: 'vrf', table: 1 },
} as const satisfies Record<string, LinkKindSpec>;

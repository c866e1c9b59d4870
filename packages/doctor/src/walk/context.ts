/** What the parts of a walk have in common. */
import type { Addr } from '@heddle/netaddr';
import { type KernelSession, NetlinkError } from '@heddle/netlink';
import type { Finding } from '../finding.ts';
import type { PodInside, PodView } from '../node/pods.ts';
import type { NodeView } from '../node/view.ts';
import type { EchoProbe } from '../probe/echo.ts';

/** One hop. */
export interface Step {
  readonly hop:
    | 'namespace'
    | 'link'
    | 'gateway'
    | 'filter'
    | 'route'
    | 'translation'
    | 'beyond'
    | 'path size';
  readonly ok: boolean;
  readonly what: string;
}

/** A walk in one family. */
export interface Walk {
  readonly attachment: string;
  readonly family: 4 | 6;
  readonly target: string | null;
  readonly steps: readonly Step[];
  readonly findings: readonly Finding[];
}

/** Where to. */
export interface WalkOptions {
  /** Addresses to reach; the node's own default gateway of a family when there is none of it. */
  readonly targets?: readonly Addr[];
}

/** What a walk works with. */
export interface WalkContext {
  readonly view: NodeView;
  readonly pod: PodView;
  readonly inside: PodInside;
  readonly session: KernelSession;
  readonly probe: EchoProbe;
  /** The container's address. */
  readonly from: Addr;
  readonly steps: Step[];
  readonly findings: Finding[];
}

/** Whether an error says that the kernel has no nf_tables for us. */
export function isWithoutTracing(error: unknown): boolean {
  return NetlinkError.is(
    error,
    'EPERM',
    'EOPNOTSUPP',
    'EPROTONOSUPPORT',
    'EEXIST',
    'EBUSY',
    'ENOENT',
    'EINVAL',
  );
}

/** Milliseconds for an answer. */
export const WAIT = 400;
/** How often to ask before it counts as silence. */
export const TRIES = 2;

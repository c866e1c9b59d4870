/** The flags of `heddle audit`. */
import { RUNTIME_NAMES, type RuntimeName } from '@heddle/doctor';
import { Addr, Prefix } from '@heddle/netaddr';
import { FINDING_FLAGS, type FindingFlags } from '../findings/flags.ts';

/** See the file's comment. */
export interface AuditFlags extends FindingFlags {
  readonly fix?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  readonly against?: RuntimeName | undefined;
  readonly maxPods?: number | undefined;
  readonly serviceCidr?: readonly Prefix[] | undefined;
  readonly nodeAddress?: readonly (Addr | Prefix)[] | undefined;
  readonly node?: boolean | undefined;
}

/** How those flags are declared. */
export const AUDIT_FLAGS = {
  ...FINDING_FLAGS,
  fix: {
    kind: 'boolean',
    brief: 'mend what is safe to mend; shows the change as a diff first',
    optional: true,
    withNegated: false,
  },
  dryRun: {
    kind: 'boolean',
    brief: 'with --fix: only show the diff',
    optional: true,
    withNegated: false,
  },
  against: {
    kind: 'enum',
    values: RUNTIME_NAMES,
    brief: 'the runtime that will read the files: containerd, crio, podman',
    placeholder: 'runtime',
    optional: true,
  },
  maxPods: {
    kind: 'parsed',
    parse: podCount,
    brief: 'how many Pods the node is to hold',
    placeholder: 'count',
    optional: true,
  },
  serviceCidr: {
    kind: 'parsed',
    parse: prefixOf,
    brief: 'where the addresses of services are; may be repeated',
    placeholder: 'prefix',
    optional: true,
    variadic: true,
  },
  nodeAddress: {
    kind: 'parsed',
    parse: addressOf,
    brief: 'an address, or a subnet, of nodes; may be repeated',
    placeholder: 'address',
    optional: true,
    variadic: true,
  },
  node: {
    kind: 'boolean',
    brief: "take the files for this machine's: compare them with its links, routes and plugins",
    optional: true,
    withNegated: false,
  },
} as const;

function podCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1) throw new SyntaxError('a number of Pods is at least 1');
  return count;
}

function prefixOf(text: string): Prefix {
  return Prefix.parse(text).masked();
}

function addressOf(text: string): Addr | Prefix {
  return text.includes('/') ? Prefix.parse(text).masked() : Addr.parse(text);
}

/** Looking at a node: all checks, and walks from its attachments. */
import type { Addr } from '@heddle/netaddr';
import type { KernelSession } from '@heddle/netlink';
import { audit } from './audit/audit.ts';
import { nodeFiles } from './audit/node-files.ts';
import { alikeTogether } from './checks/alike.ts';
import { NODE_CHECKS } from './checks/rules.ts';
import type { Finding } from './finding.ts';
import type { ListedAttachment } from './inventory/attachments.ts';
import { nameOf, type PodView } from './node/pods.ts';
import type { NodePorts } from './node/ports.ts';
import { type NodeView, viewNode } from './node/view.ts';
import type { Walk } from './walk/context.ts';
import { walkFrom } from './walk/walk.ts';

/** What to look at. */
export interface ExamineOptions {
  /** Only this network, and attachments to it. */
  readonly network?: string | undefined;
  /** Which attachments to walk from; one of each network when left out. */
  readonly chosen?: ((attachments: readonly ListedAttachment[]) => readonly ListedAttachment[]) | undefined;
  /** Addresses to walk to; the node's default gateways when left out. */
  readonly targets?: readonly Addr[] | undefined;
}

/** What was found. */
export interface Examination {
  readonly findings: readonly Finding[];
  readonly walks: readonly Walk[];
  readonly view: NodeView;
}

/**
 * Looks at a node. Changes nothing, but for a table of nftables of its own while a probe is under way.
 *
 * @param host stays the caller's
 * @example
 * using host = openSession();
 * const { findings } = await examine(ports, host);
 */
export async function examine(
  ports: NodePorts,
  host: KernelSession,
  { network, chosen, targets = [] }: ExamineOptions = {},
): Promise<Examination> {
  const view = await viewNode(ports, host, { network });
  const findings: Finding[] = [...auditErrors(view, network)];
  for (const check of NODE_CHECKS) findings.push(...(await check.look(view)));
  const named = chosen?.(view.attachments);
  const walked =
    named === undefined
      ? representatives(view, findings)
      : view.pods.filter(({ attachment }) => named.includes(attachment));
  const walks: Walk[] = [];
  for (const pod of walked) walks.push(...(await walkFrom(view, pod, { targets })));
  return {
    findings: alikeTogether(
      view,
      withoutRepetition([...findings, ...walks.flatMap((walk) => walk.findings)]),
    ),
    walks,
    view,
  };
}

/** What is wrong in the files themselves: only what keeps containers from being attached, for the audit tells the rest. */
function auditErrors({ ports, networks }: NodeView, network: string | undefined): readonly Finding[] {
  const files = network === undefined ? undefined : networks.networks.map(({ path }) => path);
  return audit({ paths: [ports.places.configDir], files: nodeFiles })
    .findings.filter(({ severity }) => severity === 'error')
    .filter(({ place }) => files === undefined || (place !== undefined && files.includes(place.file)))
    .map((finding) =>
      finding.fix === undefined
        ? finding
        : { ...finding, commands: [AUDIT_FIX], fix: { ...finding.fix, command: AUDIT_FIX } },
    );
}

const AUDIT_FIX = 'heddle audit --fix';

/** One attachment of each network: of those that are up, one that is in order as far as one sees, where there is one. */
function representatives({ pods }: NodeView, findings: readonly Finding[]): readonly PodView[] {
  const ailing = new Set(findings.map(({ subject }) => subject));
  const up = pods.filter(({ inside }) => inside?.link?.up === true);
  return [...Map.groupBy(up, ({ attachment }) => attachment.network).values()].flatMap(
    (some) => some.find(({ attachment }) => !ailing.has(nameOf(attachment))) ?? some[0] ?? [],
  );
}

/** What a check told already, a walk need not tell again. */
function withoutRepetition(findings: readonly Finding[]): readonly Finding[] {
  const isForwardingOff = findings.some(({ id }) => id === 'kernel/forwarding-off');
  // What a plugin says of itself is surer than what is known of its kind.
  const asked = new Set(findings.flatMap(({ id, place }) => (id === 'program/version' ? place?.file : [])));
  const explained = new Set(
    findings.flatMap(({ id, subject }) => (EXPLAINS[id] ?? []).map((loss) => `${loss} ${subject}`)),
  );
  const isBroken = findings.some(({ id }) => id === 'program/unusable' || id === 'program/fails');
  const told = new Set<string>();
  return findings.filter(({ id, subject, what, place }) => {
    if (isForwardingOff && id === 'path/route') return false;
    if (explained.has(`${id} ${subject}`)) return false;
    if (id === 'network/not-ready' && isBroken && SAYS_NOTHING.test(what)) return false;
    if (id === 'version/older-than-plugin' && asked.has(place?.file)) return false;
    const key = `${id} ${subject} ${id === 'path/mtu-too-large' ? '' : what}`;
    if (told.has(key)) return false;
    told.add(key);
    return true;
  });
}

/** A plugin that cannot be run does not say that it is not ready. */
const SAYS_NOTHING = /^netplugin failed/;

/** What a walk finds because of what is known of the attachment already. */
const EXPLAINS: Readonly<Record<string, readonly string[]>> = {
  'attachment/link-down': ['path/link'],
  'attachment/detached': ['path/link'],
  'attachment/no-host-route': ['path/return'],
};

import type { ListedAttachment } from '@heddle/doctor/inventory';
import { type CommonFlags, defineCommand } from '../command.ts';
import { INVENTORY_FLAGS, type InventoryFlags, takeInventory } from '../inventory/collect.ts';
import { attachmentJson } from '../inventory/json.ts';
import { formatAge } from '../output/age.ts';
import { emit } from '../output/emit.ts';
import { type Column, formatTable } from '../output/table.ts';
import { networkOf } from '../request/runtime.ts';

interface LsFlags extends CommonFlags, InventoryFlags {
  readonly stale?: boolean;
}

/** `heddle ls`: the attachments of this node. */
export const lsCommand = defineCommand<LsFlags, [string | undefined]>({
  name: 'ls',
  group: 'See what is attached',
  brief: 'list the attachments of this node',
  about: [
    "Lists what the runtime's cache, the owners of links in the kernel and host-local's reservations know of, whichever " +
      'runtime made it (containerd, podman, cnitool, heddle).',
    'STATE is "attached"; "stale" when the namespace is gone but nobody has deleted the attachment (`heddle gc NETWORK ' +
      '--keep-live` does); "untracked" when the cache does not know it: it is being made, belongs to a runtime with ' +
      'another cache (--cache-dir), or was left behind by one that crashed.',
  ],
  examples: [
    {
      command: 'heddle ls',
      what: 'shows who is attached to which network, with which addresses, since when',
    },
    { command: 'heddle ls podnet -o wide', what: 'adds namespaces, pods, links and who knows of each' },
    {
      command: `heddle ls -o json | jq -r '.attachments[] | select(.state == "stale").containerID'`,
      what: 'names the containers that left something behind',
    },
  ],
  usage: '[--stale] [network]',
  json: `interface Output {
  attachments: {
    network: string;
    containerID: string;
    ifName: string | null;
    state: 'attached' | 'stale' | 'untracked';
    netns: string | null;
    ips: string[]; // with prefix lengths, where a result tells them
    addedAt: string | null; // ISO 8601
    link: string | null; // on the host's side
    pod: { namespace: string | null; name: string | null; uid: string | null } | null;
    knownBy: ('cache' | 'link' | 'reservation')[];
  }[];
}`,
  hasWide: true,
  parameters: {
    flags: {
      stale: { kind: 'boolean', brief: 'only what is not "attached"', optional: true, withNegated: false },
      ...INVENTORY_FLAGS,
    },
    positional: {
      kind: 'tuple',
      parameters: [{ placeholder: 'network', parse: String, brief: 'only of this network', optional: true }],
    },
  },
  async run(cli, flags, network) {
    const { attachments } = await takeInventory(cli, flags);
    const candidates = attachments.filter((each) => network === undefined || each.network === network);
    // A network without attachments is one that is configured, or a slip of the pen.
    if (network !== undefined && candidates.length === 0) networkOf(cli, network);
    const shown = candidates.filter(({ state }) => flags.stale !== true || state !== 'attached');
    emit(
      cli,
      flags,
      () => ({ attachments: shown.map(attachmentJson) }),
      (styled) =>
        shown.length === 0
          ? 'no attachments\n'
          : formatTable(columns(cli.now(), flags.output === 'wide'), shown, styled),
    );
    return undefined;
  },
});

function columns(now: number, isWide: boolean): readonly Column<ListedAttachment>[] {
  const always: readonly Column<ListedAttachment>[] = [
    { title: 'NETWORK', value: ({ network }) => network },
    { title: 'CONTAINER', value: ({ containerID }) => (isWide ? containerID : shortened(containerID)) },
    { title: 'INTERFACE', value: ({ ifName }) => ifName ?? '' },
    { title: 'IPS', value: ({ ips }) => ips.join(' ') },
    {
      title: 'AGE',
      value: ({ addedAt }) => (addedAt === null ? '' : formatAge(now - addedAt)),
      align: 'right',
    },
    { title: 'STATE', value: ({ state }) => state },
  ];
  if (!isWide) return always;
  return [
    ...always,
    { title: 'NETNS', value: ({ netns }) => netns ?? '' },
    { title: 'POD', value: ({ pod }) => (pod === null ? '' : `${pod.namespace ?? '?'}/${pod.name ?? '?'}`) },
    { title: 'LINK', value: ({ link }) => link ?? '' },
    { title: 'KNOWN BY', value: ({ knownBy }) => knownBy.join(' ') },
  ];
}

/** The 64 digits of a runtime's container ID would take the whole line; 12 of them tell containers apart. */
function shortened(containerID: string): string {
  return /^[0-9a-f]{64}$/.test(containerID) ? containerID.slice(0, 12) : containerID;
}

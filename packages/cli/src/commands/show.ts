import type { ListedAttachment } from '@heddle/doctor/inventory';
import { openSession } from '@heddle/netlink';
import { openNetns, SysError } from '@heddle/sys';
import { type Cli, type CommonFlags, defineCommand } from '../command.ts';
import { INVENTORY_FLAGS, type Inventory, type InventoryFlags, takeInventory } from '../inventory/collect.ts';
import { emit } from '../output/emit.ts';
import { netnsPath } from '../request/sandbox.ts';
import { chooseAttachments } from '../show/choose.ts';
import { viewJson } from '../show/json.ts';
import { viewText } from '../show/text.ts';
import { type AttachmentView, viewAttachment } from '../show/view.ts';

interface ShowFlags extends CommonFlags, InventoryFlags {
  readonly network?: string;
  readonly ifname?: string;
}

/** `heddle show`: one attachment as the kernel has it. */
export const showCommand = defineCommand<ShowFlags, [string]>({
  name: 'show',
  group: 'See what is attached',
  brief: 'show an attachment as the kernel has it',
  about: [
    'Shows everything that belongs to the attachments of a container: links, addresses and routes on both sides, its rules ' +
      "and elements in nftables (found by the owner that their comments name), host-local's reservations, and what the " +
      "runtime's cache says. It reads, and changes nothing.",
    'CONTAINER is a container ID or the beginning of one, a namespace (path, or name for `ip netns`), or a pod.',
  ],
  examples: [
    { command: 'heddle show blue', what: 'shows what the namespace "blue" is attached to' },
    { command: 'heddle show default/web-7c9f --network podnet', what: 'shows what a pod has on podnet' },
    {
      command: `heddle show 3f2c -o json | jq '.attachments[].nftables.elements'`,
      what: 'shows its published ports, for programs',
    },
  ],
  usage: '[--network name] [-i name] <container>',
  json: `interface Output {
  attachments: {
    // all that heddle ls says, and
    container: Side | null;
    host: Side;
    nftables: {
      rules: { family: string; table: string; chain: string; handle: number; comment: string | null }[];
      elements: {
        family: string;
        table: string;
        set: string;
        key: string;
        data: string | null;
        comment: string | null;
      }[];
    };
    reservations: { address: string; createdAt: string; path: string }[];
    cache: {
      plugins: string[];
      args: [key: string, value: string][];
      capabilityArgs: object;
      result: Result | null;
    } | null;
  }[];
}

interface Side {
  links: {
    index: number;
    name: string;
    kind: string | null;
    mac: string | null;
    mtu: number;
    up: boolean;
    operstate: string;
    master: string | null;
    alias: string | null;
  }[];
  addresses: { link: string; address: string; tentative: boolean; dadFailed: boolean }[];
  routes: {
    link: string | null;
    dst: string;
    gateway: string | null;
    source: string | null;
    metric: number | null;
    table: number;
    type: string;
  }[];
}`,
  parameters: {
    flags: {
      network: {
        kind: 'parsed',
        parse: String,
        brief: 'only on this network',
        placeholder: 'name',
        optional: true,
      },
      ifname: {
        kind: 'parsed',
        parse: String,
        brief: 'only this interface',
        placeholder: 'name',
        optional: true,
      },
      ...INVENTORY_FLAGS,
    },
    aliases: { i: 'ifname' },
    positional: {
      kind: 'tuple',
      parameters: [{ placeholder: 'container', parse: String, brief: 'container ID, namespace or pod' }],
    },
  },
  async run(cli, flags, container) {
    const inventory = await takeInventory(cli, flags);
    const { network, ifname } = flags;
    const chosen = chooseAttachments(inventory.attachments, {
      ...{ container, netns: netnsPath(cli, container), network, ifName: ifname },
    });
    const views: AttachmentView[] = [];
    for (const each of chosen) views.push(await look(cli, inventory, each));
    emit(
      cli,
      flags,
      () => ({ attachments: views.map(viewJson) }),
      (styled) => views.map((view) => viewText(view, cli.now(), styled)).join('\n\n'),
    );
    return undefined;
  },
});

async function look(
  cli: Cli,
  { evidence }: Inventory,
  attachment: ListedAttachment,
): Promise<AttachmentView> {
  using netns = attachment.netns === null ? undefined : netnsIfThere(attachment.netns);
  using container = netns && openSession({ netns });
  using host = cli.openHost();
  return await viewAttachment(attachment, { ...evidence, host, container });
}

function netnsIfThere(path: string) {
  try {
    return openNetns(path);
  } catch (error) {
    if (SysError.is(error, 'ENOENT', 'EINVAL', 'ENOTDIR')) return undefined;
    throw error;
  }
}

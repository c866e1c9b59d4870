import type { ValidAttachment } from '@heddle/cni';
import type { ListedAttachment } from '@heddle/doctor/inventory';
import { type CommonFlags, defineCommand } from '../command.ts';
import { keptAttachments } from '../gc/kept.ts';
import { takeInventory } from '../inventory/collect.ts';
import { emit } from '../output/emit.ts';
import { printable } from '../output/printable.ts';
import { networkOf, RUNTIME_FLAGS, type RuntimeFlags, runtimeOf } from '../request/runtime.ts';
import { netnsPath } from '../request/sandbox.ts';

interface GcFlags extends CommonFlags, RuntimeFlags {
  readonly keep?: readonly string[];
  readonly keepLive?: boolean;
}

/** `heddle gc`: GC. */
export const gcCommand = defineCommand<GcFlags, [string, string | undefined]>({
  name: 'gc',
  group: 'Attach and detach',
  brief: 'free what containers left behind that are gone',
  about: [
    'Deletes every attachment to NETWORK that is not to be kept, and lets the plugins free whatever else they find. ' +
      'As with cnitool NOTHING IS KEPT unless you say so: on a node with running containers give --keep-live.',
    'What --keep names must be there: a container ID or the beginning of one, a namespace or a pod, as `heddle show` ' +
      'takes them. When one means nothing, or could mean several, nothing is freed.',
    'NETNS is taken for the sake of cnitool and not looked at.',
  ],
  examples: [
    {
      command: 'heddle gc podnet --keep-live',
      what: 'frees what belongs to containers whose namespace is gone',
    },
    { command: 'heddle gc podnet --keep 3f2c… --keep 81aa…/net1', what: 'frees all but two attachments' },
    { command: 'heddle gc podnet', what: 'frees everything on podnet, running containers included' },
  ],
  usage: '[--keep-live] [--keep container[/ifname]]... <network> [netns]',
  json: `interface Output {
  network: string;
  kept: { containerID: string; ifName: string | null; ips: string[] }[];
  freed: { containerID: string; ifName: string | null; ips: string[] }[]; // also what only plugins knew of
}`,
  parameters: {
    flags: {
      keep: {
        kind: 'parsed',
        parse: String,
        brief:
          'a container that is alive, with all its interfaces, or with /ifname one of them; may be repeated',
        placeholder: 'container[/ifname]',
        variadic: true,
        optional: true,
      },
      keepLive: {
        kind: 'boolean',
        brief: 'keep every known attachment whose network namespace still exists',
        optional: true,
        withNegated: false,
      },
      ...RUNTIME_FLAGS,
    },
    positional: {
      kind: 'tuple',
      parameters: [
        { placeholder: 'network', parse: String, brief: 'name of the network' },
        { placeholder: 'netns', parse: String, brief: 'not looked at', optional: true },
      ],
    },
  },
  async run(cli, flags, network) {
    const list = networkOf(cli, network);
    const on = async () =>
      (await takeInventory(cli, flags)).attachments.filter((each) => each.network === list.name);
    const before = await on();
    const named = keptAttachments(before, flags.keep ?? [], {
      network,
      netnsPath: (text) => netnsPath(cli, text),
    });
    const kept = before.filter((each) => named.includes(each) || (flags.keepLive === true && isLive(each)));
    await runtimeOf(cli, flags).gc(list, kept.map(validOf));
    const after = new Set((await on()).map(textOf));
    const freed = before.filter((each) => !after.has(textOf(each)));
    emit(
      cli,
      flags,
      () => ({ network, kept: kept.map(jsonOf), freed: freed.map(jsonOf) }),
      () => (list.disableGC ? `freed nothing: ${network} says "disableGC"\n` : freedText(network, freed)),
    );
    return undefined;
  },
});

/** What the cache knows with a namespace that is there, or with none, which cannot be told to be gone. */
function isLive({ state }: ListedAttachment): boolean {
  return state === 'attached';
}

/** Reservations in the oldest format name no interface; they belong to whichever the container has. */
function validOf({ containerID, ifName }: ListedAttachment): ValidAttachment {
  return { containerID, ifname: ifName ?? 'eth0' };
}

function textOf({ containerID, ifName }: ListedAttachment): string {
  return `${containerID}/${ifName ?? ''}`;
}

function jsonOf({ containerID, ifName, ips }: ListedAttachment) {
  return { containerID, ifName, ips };
}

function freedText(network: string, freed: readonly ListedAttachment[]): string {
  if (freed.length === 0) return `freed nothing on ${network}\n`;
  const lines = freed.map((each) => `  ${printable([textOf(each), ...each.ips].join(' '))}\n`);
  const what = freed.length === 1 ? '1 attachment' : `${freed.length} attachments`;
  return `freed ${what} on ${network}:\n${lines.join('')}`;
}

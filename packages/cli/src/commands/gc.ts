import type { ValidAttachment } from '@heddle/cni';
import type { CachedAttachment } from '@heddle/cni/runtime';
import { type CommonFlags, defineCommand } from '../command.ts';
import { hasNetns } from '../inventory/netns.ts';
import { emit } from '../output/emit.ts';
import { networkOf, RUNTIME_FLAGS, type RuntimeFlags, runtimeOf } from '../request/runtime.ts';

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
  kept: { containerID: string; ifName: string }[];
  freed: { containerID: string; ifName: string }[];
}`,
  parameters: {
    flags: {
      keep: {
        kind: 'parsed',
        parse: String,
        brief: 'an attachment that is alive: a container ID, for eth0, or with /ifname; may be repeated',
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
    const runtime = runtimeOf(cli, flags);
    const list = networkOf(cli, network);
    const known = runtime.attachments().filter((each) => each.network === list.name);
    const kept = [
      ...(flags.keep ?? []).map(parseKept),
      ...(flags.keepLive === true ? known.filter(isLive).map(validOf) : []),
    ];
    await runtime.gc(list, kept);
    const isKept = (each: CachedAttachment) => kept.some((one) => textOf(one) === textOf(validOf(each)));
    emit(cli, flags, () => ({
      network,
      kept: kept.map(jsonOf),
      freed: known.filter((each) => !isKept(each)).map((each) => jsonOf(validOf(each))),
    }));
    return undefined;
  },
});

function parseKept(text: string): ValidAttachment {
  const [containerID = '', ifname = 'eth0'] = text.split('/');
  return { containerID, ifname };
}

/** One without a namespace in the cache cannot be told to be gone. */
function isLive({ netns }: CachedAttachment): boolean {
  return netns === undefined || hasNetns(netns);
}

function validOf({ containerID, ifName }: CachedAttachment): ValidAttachment {
  return { containerID, ifname: ifName };
}

function textOf({ containerID, ifname }: ValidAttachment): string {
  return `${containerID}/${ifname}`;
}

function jsonOf({ containerID, ifname }: ValidAttachment) {
  return { containerID, ifName: ifname };
}

import { atLeast, type NetworkConfigList } from '@heddle/cni';
import type { Runtime } from '@heddle/cni/runtime';
import { type CommonFlags, defineCommand } from '../command.ts';
import { withPlaces } from '../network/refused-config.ts';
import { emit } from '../output/emit.ts';
import { networkOf, RUNTIME_FLAGS, type RuntimeFlags, runtimeOf, warnOfNetwork } from '../request/runtime.ts';

/** `heddle status`: STATUS. */
export const statusCommand = defineCommand<CommonFlags & RuntimeFlags, [string, string | undefined]>({
  name: 'status',
  group: 'Attach and detach',
  brief: 'ask whether a network could attach a container now',
  about: [
    'Asks every plugin of NETWORK whether it is ready. Prints nothing when all are. Networks of a version before 1.1.0 ' +
      'have no such question: their plugins must be there and speak that version. Warns of members of the ' +
      'configuration that have no effect.',
    'NETNS is taken for the sake of cnitool and not looked at.',
  ],
  examples: [
    { command: 'heddle status podnet && echo ready', what: 'says so when podnet could serve a container' },
  ],
  usage: '<network> [netns]',
  json: `interface Output {
  network: string;
  ready: true;
}`,
  parameters: {
    flags: RUNTIME_FLAGS,
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
    const runtime = runtimeOf(cli, flags);
    warnOfNetwork(cli, list);
    await withPlaces(list, () => (hasStatus(list) ? runtime.status(list) : askVersions(runtime, list)));
    emit(cli, flags, () => ({ network, ready: true }));
    return undefined;
  },
});

function hasStatus({ cniVersion }: NetworkConfigList): boolean {
  return atLeast(cniVersion || '0.1.0', '1.1.0');
}

/** @throws {CniError} for plugins that are not there, do not answer, or do not speak the network's version */
async function askVersions(runtime: Runtime, list: NetworkConfigList): Promise<void> {
  await runtime.validate(list);
  for (const type of new Set(list.plugins.flatMap(({ ipamType }) => ipamType ?? [])))
    await runtime.version(type);
}

import { type CommonFlags, defineCommand } from '../command.ts';
import { emit } from '../output/emit.ts';
import { networkOf, RUNTIME_FLAGS, type RuntimeFlags, runtimeOf } from '../request/runtime.ts';

/** `heddle status`: STATUS. */
export const statusCommand = defineCommand<CommonFlags & RuntimeFlags, [string, string | undefined]>({
  name: 'status',
  group: 'Attach and detach',
  brief: 'ask whether a network could attach a container now',
  about: [
    'Asks every plugin of NETWORK whether it is ready. Prints nothing when all are. Networks of a version before 1.1.0 ' +
      'have no such question and count as ready.',
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
    await runtimeOf(cli, flags).status(networkOf(cli, network));
    emit(cli, flags, () => ({ network, ready: true }));
    return undefined;
  },
});

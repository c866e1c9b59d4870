import { type NetworkConfigList, NetworkNotFoundError } from '@heddle/cni';
import { type Cli, defineCommand } from '../command.ts';
import { networkOf, runtimeOf } from '../request/runtime.ts';
import { attachmentOf } from '../request/sandbox.ts';
import {
  ATTACHMENT_OUTPUT,
  ATTACHMENT_PARAMETERS,
  type CallFlags,
  ENVIRONMENT_NOTE,
  emitAttachment,
} from './attachment-flags.ts';

/** `heddle del`: DEL. */
export const delCommand = defineCommand<CallFlags, [string, string]>({
  name: 'del',
  group: 'Attach and detach',
  brief: 'detach a namespace from a network',
  about: [
    'Runs the plugins of NETWORK in reverse, with the configuration that `add` ran, and forgets the attachment. What is ' +
      'gone already counts as done: the namespace, the interface, even the network. A plugin that fails does not keep ' +
      'the others from their work; every failure is told, and the attachment stays known, for another try.',
    ENVIRONMENT_NOTE,
  ],
  examples: [
    {
      command: 'heddle del podnet blue',
      what: 'takes eth0 away again, with its address and published ports',
    },
    {
      command: 'heddle del podnet x --container-id 3f2c…',
      what: 'detaches a container whose namespace is gone',
    },
  ],
  usage: '[-i name] <network> <netns>',
  json: ATTACHMENT_OUTPUT,
  parameters: ATTACHMENT_PARAMETERS,
  async run(cli, flags, network, netns) {
    const attachment = attachmentOf(cli, netns, flags);
    const runtime = runtimeOf(cli, flags);
    const isKnown = runtime.cachedConfig(network, attachment) !== undefined;
    await runtime.del(
      isKnown ? (networkIfThere(cli, network) ?? network) : networkOf(cli, network),
      attachment,
    );
    emitAttachment(cli, flags, network, attachment);
    return undefined;
  },
});

/** The cache knows how to delete what it knows, so the network itself may be gone. */
function networkIfThere(cli: Cli, name: string): NetworkConfigList | undefined {
  try {
    return networkOf(cli, name);
  } catch (error) {
    if (error instanceof NetworkNotFoundError) return undefined;
    throw error;
  }
}

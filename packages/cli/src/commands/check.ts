import { defineCommand } from '../command.ts';
import { withPlaces } from '../network/refused-config.ts';
import { emit } from '../output/emit.ts';
import { mustBeAttached } from '../request/attached.ts';
import { networkOf, runtimeOf } from '../request/runtime.ts';
import { attachmentOf } from '../request/sandbox.ts';
import { ATTACHMENT_PARAMETERS, type CallFlags, ENVIRONMENT_NOTE } from './attachment-flags.ts';

/** `heddle check`: CHECK. */
export const checkCommand = defineCommand<CallFlags, [string, string]>({
  name: 'check',
  group: 'Attach and detach',
  brief: 'check that an attachment is as add left it',
  about: [
    'Asks the plugins of NETWORK whether links, addresses, routes and rules are still what the result of `add` says. ' +
      'Prints nothing when they are; the first difference otherwise.',
    ENVIRONMENT_NOTE,
  ],
  examples: [
    { command: 'heddle check podnet blue', what: 'is eth0 of the namespace "blue" what it should be?' },
  ],
  usage: '[-i name] <network> <netns>',
  json: `interface Output {
  network: string;
  containerID: string;
  ifName: string;
  netns: string;
}`,
  parameters: ATTACHMENT_PARAMETERS,
  async run(cli, flags, network, netns) {
    const attachment = attachmentOf(cli, netns, flags);
    const list = networkOf(cli, network);
    const runtime = runtimeOf(cli, flags);
    mustBeAttached(runtime, attachment, { network, netns });
    await withPlaces(list, () => runtime.check(list, attachment));
    const { containerID, ifName } = attachment;
    emit(cli, flags, () => ({ network, containerID, ifName, netns: attachment.netns }));
    return undefined;
  },
});

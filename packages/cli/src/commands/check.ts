import { defineCommand } from '../command.ts';
import { withPlaces } from '../network/refused-config.ts';
import { mustBeAttached } from '../request/attached.ts';
import { networkOf, runtimeOf } from '../request/runtime.ts';
import { attachmentOf } from '../request/sandbox.ts';
import {
  ATTACHMENT_OUTPUT,
  ATTACHMENT_PARAMETERS,
  type CallFlags,
  ENVIRONMENT_NOTE,
  emitAttachment,
} from './attachment-flags.ts';

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
  json: ATTACHMENT_OUTPUT,
  parameters: ATTACHMENT_PARAMETERS,
  async run(cli, flags, network, netns) {
    const attachment = attachmentOf(cli, netns, flags);
    const list = networkOf(cli, network);
    const runtime = runtimeOf(cli, flags);
    mustBeAttached(runtime, attachment, { network, netns });
    await withPlaces(list, () => runtime.check(list, attachment));
    emitAttachment(cli, flags, network, attachment);
    return undefined;
  },
});

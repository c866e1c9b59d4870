import { stringifyResult } from '@heddle/cni';
import { defineCommand } from '../command.ts';
import { withPlaces } from '../network/refused-config.ts';
import { mustBeNew } from '../request/attached.ts';
import { networkOf, runtimeOf, warnOfNetwork } from '../request/runtime.ts';
import { attachmentOf } from '../request/sandbox.ts';
import { ATTACHMENT_PARAMETERS, type CallFlags, ENVIRONMENT_NOTE } from './attachment-flags.ts';

/** `heddle add`: ADD. */
export const addCommand = defineCommand<CallFlags, [string, string]>({
  name: 'add',
  group: 'Attach and detach',
  brief: 'attach a namespace to a network',
  about: [
    'Runs the plugins of NETWORK one after the other, as a container runtime does for a new container, and prints the ' +
      'CNI result. What a failed attempt set up is taken down again. Warns of members of the configuration and of ' +
      'capability arguments that have no effect.',
    ENVIRONMENT_NOTE,
  ],
  examples: [
    {
      command: 'ip netns add blue && heddle add podnet blue',
      what: 'gives the namespace "blue" an eth0 on podnet',
    },
    {
      command: `CAP_ARGS='{"portMappings":[{"hostPort":8080,"containerPort":80,"protocol":"tcp"}]}' heddle add podnet blue`,
      what: 'publishes port 80 of it as port 8080 of this node',
    },
    {
      command: 'heddle add podnet /proc/4711/ns/net -i net1',
      what: 'attaches the namespace of a process, as net1',
    },
  ],
  usage: '[-i name] <network> <netns>',
  json: `// in the version of the network; also without -o json
type Output = Result;`,
  parameters: ATTACHMENT_PARAMETERS,
  async run(cli, flags, network, netns) {
    const list = networkOf(cli, network);
    const attachment = attachmentOf(cli, netns, flags);
    const runtime = runtimeOf(cli, flags);
    mustBeNew(runtime, attachment, { network, netns });
    warnOfNetwork(cli, list, attachment);
    const result = await withPlaces(list, () => runtime.add(list, attachment, { undoOnFailure: true }));
    // As cnitool prints it; only a terminal wants the line to end.
    cli.stdout.write(`${stringifyResult(result, result.cniVersion)}${cli.stdout.isTerminal ? '\n' : ''}`);
    return undefined;
  },
});

import { join } from 'node:path';
import { SysError } from '@heddle/sys';
import { type Cli, type CommonFlags, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { withPlaces } from '../network/refused-config.ts';
import { CommandError, reportError } from '../output/report-error.ts';
import { networkOf, RUNTIME_FLAGS, type RuntimeFlags, runtimeOf, warnOfNetwork } from '../request/runtime.ts';
import { attachmentOf } from '../request/sandbox.ts';
import { runInside } from '../sandbox/command.ts';
import { type FreshNetns, freshNetns } from '../sandbox/fresh-netns.ts';
import { Interruption } from '../sandbox/interruption.ts';

interface RunFlags extends CommonFlags, RuntimeFlags {
  readonly ifname?: string;
  readonly name?: string;
}

/** `heddle run`. */
export const runCommand = defineCommand<RunFlags, readonly string[]>({
  name: 'run',
  group: 'Attach and detach',
  brief: 'run a command attached to a network',
  about: [
    'Makes a fresh network namespace, attaches it to NETWORK, runs COMMAND in it, and detaches it when the command ends or ' +
      'a signal arrives. The command has this terminal, these files and this environment; only the network is another.',
    `Ends with the exit code of the command: ${EXIT.NOT_FOUND} when there is none of that name, ${EXIT.NOT_EXECUTABLE} when it cannot be executed, 128 and the ` +
      `number of the signal that ended it, ${EXIT.RUN_FAILED} when attaching or detaching failed.`,
  ],
  examples: [
    { command: 'heddle run podnet -- ip address', what: 'shows what a container on podnet would see' },
    { command: 'heddle run podnet -- curl -sI https://example.org', what: 'tries the way out' },
    {
      command: `CAP_ARGS='{"portMappings":[{"hostPort":8080,"containerPort":8000,"protocol":"tcp"}]}' heddle run podnet -- python3 -m http.server`,
      what: 'serves this directory on port 8080 of this node, from a pod',
    },
  ],
  usage: '[-i name] [--name name] <network> -- <command> [argument]...',
  json: `// on stderr, one line each: stdout is the command's
type Event =
  | {
      event: 'attached';
      network: string;
      containerID: string;
      ifName: string;
      netns: string;
      ips: string[];
    }
  | { event: 'detached'; exitCode: number };`,
  parameters: {
    flags: {
      ifname: {
        kind: 'parsed',
        parse: String,
        brief: "the interface's name (default: CNI_IFNAME, else eth0)",
        placeholder: 'name',
        optional: true,
      },
      name: {
        kind: 'parsed',
        parse: String,
        brief: 'the name of the namespace, for ip netns (default: heddle- and eight random digits)',
        placeholder: 'name',
        optional: true,
      },
      ...RUNTIME_FLAGS,
    },
    aliases: { i: 'ifname' },
    positional: {
      kind: 'array',
      parameter: {
        placeholder: 'network command argument',
        parse: String,
        brief: 'the network, then the command behind --',
      },
    },
  },
  failsWith: EXIT.RUN_FAILED,
  async run(cli, flags, network, program, ...args) {
    if (network === undefined || program === undefined) throw withoutCommand(network);
    const list = networkOf(cli, network);
    const name = flags.name ?? `heddle-${Buffer.from(cli.randomBytes(4)).toString('hex')}`;
    const attachment = attachmentOf(cli, join(cli.places.netnsDir, name), flags);
    using interruption = new Interruption(cli.signals);
    using netns = await namespaceFor(cli, name);
    const runtime = runtimeOf(cli, flags);
    warnOfNetwork(cli, list, attachment);
    const tell = (event: object) => flags.output === 'json' && cli.stderr.write(`${JSON.stringify(event)}\n`);
    let exitCode: number = EXIT.RUN_FAILED;
    let isAttached = false;
    try {
      const options = { undoOnFailure: true, signal: interruption.signal };
      const { ips = [] } = await withPlaces(list, () => runtime.add(list, attachment, options));
      isAttached = true;
      const { containerID, ifName } = attachment;
      const addresses = ips.map(({ address }) => address);
      tell({ event: 'attached', network, containerID, ifName, netns: netns.path, ips: addresses });
      exitCode = await interruption.unless(() => runInside(cli, netns.handle, [program, ...args]));
    } catch (error) {
      exitCode =
        interruption.exitCode ??
        reportError(cli, error, { format: 'text', debug: flags.debug ?? false, exitCode: EXIT.RUN_FAILED });
    }
    if (!isAttached) return exitCode;
    await runtime.del(list, attachment);
    tell({ event: 'detached', exitCode });
    return exitCode;
  },
});

function withoutCommand(network: string | undefined): CommandError {
  const what = network === undefined ? 'a network, and a command after --' : 'a command after --';
  return new CommandError(EXIT.USAGE, `run: say ${what}`, {
    hint: `heddle run ${network ?? 'NETWORK'} -- ip address`,
  });
}

/** @throws {CommandError} when the name is taken */
async function namespaceFor({ places }: Cli, name: string): Promise<FreshNetns> {
  try {
    return await freshNetns(places.netnsDir, name);
  } catch (error) {
    if (!SysError.is(error, 'EEXIST')) throw error;
    const message = `namespace ${name} exists; choose another --name`;
    throw new CommandError(EXIT.RUN_FAILED, message, { cause: error });
  }
}

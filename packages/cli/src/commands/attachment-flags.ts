/** Flags, arguments and output that the commands about one attachment share. */
import type { Cli, CommonFlags } from '../command.ts';
import { emit } from '../output/emit.ts';
import { RUNTIME_FLAGS, type RuntimeFlags } from '../request/runtime.ts';
import type { AttachmentFlags, attachmentOf } from '../request/sandbox.ts';

/** Flags of commands about one attachment. */
export interface CallFlags extends CommonFlags, RuntimeFlags, AttachmentFlags {}

/** How they are declared, with the arguments NETWORK and NETNS. */
export const ATTACHMENT_PARAMETERS = {
  flags: {
    ifname: {
      kind: 'parsed',
      parse: String,
      brief: "the interface's name (default: CNI_IFNAME, else eth0)",
      placeholder: 'name',
      optional: true,
    },
    containerId: {
      kind: 'parsed',
      parse: String,
      brief: "the container's ID (default: derived from the namespace's path, as cnitool does)",
      placeholder: 'id',
      optional: true,
    },
    ...RUNTIME_FLAGS,
  },
  aliases: { i: 'ifname' },
  positional: {
    kind: 'tuple',
    parameters: [
      { placeholder: 'network', parse: String, brief: 'name of the network' },
      {
        placeholder: 'netns',
        parse: String,
        brief: 'network namespace: a path, or a name that `ip netns` knows',
      },
    ],
  },
} as const;

/** What all of them say about the environment. */
export const ENVIRONMENT_NOTE =
  'The environment says the rest, as for cnitool: NETCONFPATH (directory of networks, default /etc/cni/net.d), CNI_PATH ' +
  '(plugin directories, default /opt/cni/bin and where the runtimes of this node are told to look), CNI_ARGS (KEY=value;…), CAP_ARGS (capability arguments, a JSON object), ' +
  'CNI_IFNAME.';

/** What `--json` prints where there is nothing to say but which attachment it was. */
export const ATTACHMENT_OUTPUT = `interface Output {
  network: string;
  containerID: string;
  ifName: string;
  netns: string;
}`;

/** Prints {@link ATTACHMENT_OUTPUT}, or nothing without `--json`. */
export function emitAttachment(
  cli: Cli,
  flags: CallFlags,
  network: string,
  { containerID, ifName, netns }: ReturnType<typeof attachmentOf>,
): void {
  emit(cli, flags, () => ({ network, containerID, ifName, netns }));
}

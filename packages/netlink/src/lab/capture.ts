/** Captures what the kernel says after some commands. */
import { type Codec, encode } from '@heddle/wire';
import { NetlinkClient } from '../core/client.ts';
import { NETLINK } from '../core/header.ts';
import { RTM } from '../core/rtm.ts';
import { SocketTransport } from '../core/socket-transport.ts';
import { linkMessage } from '../link/codec.ts';
import { TestNetns } from '../testing/test-netns.ts';
import { readVector, type Vector, type VectorKind } from './vectors.ts';

/** Commands, a request, and which of the replies to keep. */
export interface Recipe {
  readonly kind: VectorKind;
  /** Run in a namespace that has `hd0` and `hd1`, a pair of links that are up. */
  readonly commands: readonly string[];
  readonly type: number;
  readonly request: Uint8Array;
  /** A text in the reading of the reply that is kept. */
  readonly has: string;
}

/** The body of a request for a list. */
export const list = <In>(codec: Codec<unknown, In>, value: In) => encode(codec, value);
const links = list(linkMessage, { attributes: { extMask: 8 } });
/** What the kernel says of a link. */
export const link = (command: string, name: string): Recipe => ({
  kind: 'link',
  commands: command.split('; '),
  type: RTM.GETLINK,
  request: links,
  has: `"${name}"`,
});

/** Runs the commands in a namespace of their own. */
export async function capture({ kind, commands, type, request, has }: Recipe): Promise<Vector> {
  using lab = new TestNetns();
  lab.run('ip', 'link', 'add', 'hd0', 'type', 'veth', 'peer', 'name', 'hd1');
  for (const name of ['hd0', 'hd1']) lab.run('ip', 'link', 'set', name, 'up');
  for (const command of commands) {
    const [program = '', ...args] = command.split(' ');
    lab.run(program, ...args);
  }
  using client = new NetlinkClient(
    new SocketTransport({ protocol: NETLINK.ROUTE, netns: lab.handle, mode: 'sync' }),
  );
  const operation = commands.join('; ');
  const replies = await client.dump({ type, body: request, operation });
  const captured = replies
    .map(({ body }) => Buffer.from(body).toString('hex'))
    .map((hex): Vector => ({ kind, command: commands.at(-1) ?? '', hex, value: readVector(kind, hex) }));
  const kept = captured.find(({ value }) => JSON.stringify(value).includes(has));
  if (kept === undefined) throw new Error(`no reply has ${has} after ${operation}`);
  return kept;
}

/** How many callers wait in the queue of a socket that listens — linux/sock_diag.h, linux/unix_diag.h. */
import { fstatSync } from 'node:fs';
import { NetlinkClient, NetlinkError, SocketTransport } from '@heddle/netlink';
import { AF, type Fd } from '@heddle/sys';
import { decode, encode, pad, struct, u8, u16, u32 } from '@heddle/wire';

/**
 * Asks the kernel.
 *
 * @returns undefined where the kernel cannot tell: it has no `unix_diag`
 */
export async function callersWaiting(listener: Fd): Promise<number | undefined> {
  if (listener.closed) return undefined;
  using kernel = new NetlinkClient(new SocketTransport({ protocol: NETLINK_SOCK_DIAG, mode: 'sync' }));
  const body = encode(unixDiagRequest, {
    ...{ family: AF.UNIX, states: ALL_STATES, show: SHOW_QUEUES },
    ...{ inode: fstatSync(listener.number).ino, cookie0: NO_COOKIE, cookie1: NO_COOKIE },
  });
  const operation = 'look at the queue of the agent’s socket';
  try {
    const [reply] = await kernel.request({ type: SOCK_DIAG_BY_FAMILY, body, operation });
    return reply && decode(unixDiagMessage, reply.body).waiting;
  } catch (error) {
    if (error instanceof NetlinkError) return undefined;
    throw error;
  }
}

const unixDiagRequest = struct('unix_diag_req', {
  ...{ family: u8, protocol: u8, pad: pad(2), states: u32 },
  ...{ inode: u32, show: u32, cookie0: u32, cookie1: u32 },
});
/** The message, and its only attribute: UNIX_DIAG_RQLEN. */
const unixDiagMessage = struct('unix_diag_msg', {
  ...{ family: u8, type: u8, state: u8, pad: pad(1), inode: u32, cookie0: u32, cookie1: u32 },
  ...{ length: u16, attribute: u16, waiting: u32, most: u32 },
});

const NETLINK_SOCK_DIAG = 4;
const SOCK_DIAG_BY_FAMILY = 20;
/** UDIAG_SHOW_RQLEN */
const SHOW_QUEUES = 0x10;
const ALL_STATES = 0xffff_ffff;
/** INET_DIAG_NOCOOKIE: whichever socket has the inode. */
const NO_COOKIE = 0xffff_ffff;

import { AF, NETLINK, SOCK } from '../constants.ts';
import type { Fd } from '../fd.ts';
import type { NetnsHandle } from '../netns.ts';
import { socket } from '../socket.ts';

/** An rtnetlink socket in a namespace. */
export function routeSocket(netns: NetnsHandle): Fd {
  return socket({ family: AF.NETLINK, type: SOCK.RAW, protocol: NETLINK.ROUTE, netns });
}

/** Sockets that multicast groups are received on — netlink(7) */
import {
  AF,
  bind,
  type Fd,
  NETLINK_OPTION,
  type NetnsHandle,
  recv,
  SO,
  SOCK,
  SOL,
  SysError,
  setsockopt,
  socket,
  watch,
} from '@heddle/sys';
import { encode, pad, struct, u16, u32 } from '@heddle/wire';
import { NETLINK } from '../core/header.ts';
import { type Reply, readMessages } from '../core/message.ts';
import { type EventGroup, GROUPS, type KernelEvent, netfilterEventOf, routeEventOf } from './events.ts';

/** struct sockaddr_nl */
const sockaddrNl = struct('sockaddr_nl', { family: u16, pad: pad(2), port: u32, groups: u32 });

/** What is wanted, and whom to tell. */
export interface SubscribeOptions {
  readonly groups: readonly EventGroup[];
  /** Called for every event, in the kernel's order. */
  readonly onEvent: (event: KernelEvent) => void;
  /**
   * Called when events came faster than they were taken and some are lost: list afresh what you follow.
   * Events that follow are newer than the call.
   */
  readonly onResync: () => void;
  /** Whether the process may end although the subscription lives. */
  readonly unref?: boolean | undefined;
  /** Bytes of events that may wait to be taken; 4 MiB when left out. */
  readonly receiveBuffer?: number | undefined;
}

/** Ends with its disposal. */
export type Subscription = Disposable;

/**
 * Subscribes in a namespace of this machine; in the caller's own for `undefined`. Events are told from the
 * return of this call on: subscribe first, then list, and nothing is missed.
 */
export function kernelSubscribe(netns: NetnsHandle | undefined, options: SubscribeOptions): Subscription {
  const { groups, unref = false } = options;
  const stack = new DisposableStack();
  try {
    for (const protocol of new Set(groups.map((name) => GROUPS[name].protocol))) {
      const fd = stack.use(
        socket({ family: AF.NETLINK, type: SOCK.RAW, protocol, netns, nonblocking: true }),
      );
      setReceiveBuffer(fd, options.receiveBuffer ?? RECEIVE_BUFFER);
      bind(fd, encode(sockaddrNl, { family: AF.NETLINK }));
      for (const name of groups) {
        const { group } = GROUPS[name];
        if (GROUPS[name].protocol === protocol) {
          setsockopt(fd, SOL.NETLINK, NETLINK_OPTION.ADD_MEMBERSHIP, group);
        }
      }
      const eventOf = protocol === NETLINK.ROUTE ? routeEventOf : netfilterEventOf;
      stack.use(watch(fd, drainOf(fd, eventOf, options), { unref }));
    }
    return stack;
  } catch (error) {
    stack.dispose();
    throw error;
  }
}

const RECEIVE_BUFFER = 4 * 1024 * 1024;
/** So that a flood of events does not keep everything else from running. */
const DATAGRAMS_AT_ONCE = 256;

/**
 * What tells of what waits on the socket, up to a bound; what is left makes it readable again.
 *
 * The kernel reports a loss before it gives what was queued until then, and drops everything that comes until that is
 * taken, without another word. So the rest of the queue is thrown away first: it is older than the loss.
 */
function drainOf(
  fd: Fd,
  eventOf: (message: Reply) => KernelEvent | undefined,
  { onEvent, onResync }: SubscribeOptions,
): () => void {
  const tell = (datagram: Uint8Array): void => {
    for (const message of readMessages(datagram)) {
      const event = eventOf(message);
      if (event !== undefined && !fd.closed) onEvent(event);
    }
  };
  return () => {
    let isLost = false;
    for (let taken = 0; (isLost || taken < DATAGRAMS_AT_ONCE) && !fd.closed; taken++) {
      const datagram = take(fd);
      if (datagram === undefined) {
        if (isLost) onResync();
        return;
      }
      if (datagram === 'lost') isLost = true;
      else if (!isLost) tell(datagram);
    }
  };
}

/** The next datagram; `undefined` when there is none, `lost` when some are. */
function take(fd: Fd): Uint8Array | 'lost' | undefined {
  try {
    return recv(fd);
  } catch (error) {
    if (SysError.is(error, 'ENOBUFS')) return 'lost';
    throw error;
  }
}

function setReceiveBuffer(fd: Fd, bytes: number): void {
  try {
    setsockopt(fd, SOL.SOCKET, SO.RCVBUFFORCE, bytes);
  } catch (error) {
    if (!SysError.is(error, 'EPERM')) throw error;
    setsockopt(fd, SOL.SOCKET, SO.RCVBUF, bytes);
  }
}

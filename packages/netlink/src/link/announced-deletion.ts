/**
 * Deleting a link in a fraction of the time: until the kernel announces that it is gone, instead of until it
 * acknowledges the request — linux/netlink.h (NLM_F_ECHO), net/core/dev.c.
 *
 * When the kernel announces the deletion, the device is out of all lists and its name is free. Between that and the
 * acknowledgement lies nothing but an RCU barrier of some tens of milliseconds, in which memory is given back. The
 * acknowledgement is awaited all the same, and an error in it is reported.
 *
 * NLM_F_ECHO has the kernel send the announcement to the socket that asked, under the request's own sequence number, so
 * that nobody else's deletion is taken for it, and no move to another namespace. A kernel that does not do that for
 * links (before 6.2) sends none: then it is the acknowledgement that ends the wait, as ever.
 */
import {
  AF,
  type Aside,
  bind,
  type Fd,
  MSG,
  NETLINK_OPTION,
  type NetnsHandle,
  recv,
  SOCK,
  SOL,
  SysError,
  sendAside,
  setsockopt,
  socket,
  transact,
  transactSync,
  watch,
} from '@heddle/sys';
import { decode, encode, pad, struct, u16, u32, Writer } from '@heddle/wire';
import { verdictOf } from '../core/acknowledgement.ts';
import { NETLINK, NLM_F } from '../core/header.ts';
import { type Message, readMessages, writeMessage } from '../core/message.ts';
import { NetlinkError } from '../core/netlink-error.ts';
import { RTM } from '../core/rtm.ts';
import { ifinfomsg } from './fields.ts';

/** What is asked for. */
export interface DeletionRequest {
  /** The request to delete links. */
  readonly message: Message;
  /** The links that go, by their indexes; empty: one, whichever it is. */
  readonly wanted: readonly number[];
  /** Carried out before it, in the same send: one for each link that goes. */
  readonly before?: readonly Message[];
  /** Told which of these was refused. Its link is not waited for. */
  readonly onRefused?: (at: number) => void;
}

/** How deletions are made, and who hears of those that fail when their caller has gone on. */
export interface AnnouncedDeletionOptions {
  /** The namespace; the caller's own for `undefined`. */
  readonly netns?: NetnsHandle | undefined;
  readonly onLateFailure: (error: unknown) => void;
}

/** A deletion that is under way. */
export interface AnnouncedDeletion {
  /** Ends when all links are gone. @throws {NetlinkError} when the kernel refuses */
  readonly gone: Promise<void>;
  /** Ends when the kernel is through with it. */
  readonly acknowledged: Promise<void>;
}

/**
 * Carries out a request to delete links. The request's socket is open until the kernel has acknowledged it, and keeps
 * the namespace alive until then.
 */
export function deleteAnnounced(
  request: DeletionRequest,
  { netns, onLateFailure }: AnnouncedDeletionOptions,
): AnnouncedDeletion {
  const fd = openSocket(netns);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let hasEnded = false;
  const end = (error?: unknown) => {
    if (hasEnded && error !== undefined) onLateFailure(error);
    hasEnded = true;
    if (error === undefined) resolve();
    else reject(error);
  };
  let isAnswered = false;
  const newsIn = listenFor(request);
  const take = (datagram: Uint8Array) => {
    for (const news of newsIn(datagram)) {
      isAnswered ||= news.isAnswer;
      end(news.error);
    }
  };
  // What the request's own thread has not taken by then: it is in the kernel still, up to the acknowledgement.
  const watching = watch(fd, () => {
    try {
      const datagram = recv(fd, undefined, MSG.DONTWAIT);
      if (datagram !== undefined) take(datagram);
    } catch (error) {
      // What was lost, the acknowledgement makes up for.
      if (!SysError.is(error, 'ENOBUFS')) end(error);
    }
  });
  const acknowledged = transact(fd, written(request))
    .then((datagrams) => {
      for (const datagram of datagrams) take(datagram);
      if (!isAnswered) end(unanswered(request.message));
    })
    .catch(end)
    .finally(() => {
      watching[Symbol.dispose]();
      fd.close();
    });
  return { gone: promise, acknowledged };
}

/** The links that a request is about, by their indexes; none where it has a name for its link. */
export function wantedBy({ body }: Message): readonly number[] {
  const { index } = decode(ifinfomsg, body);
  return index === 0 ? [] : [index];
}

/**
 * The same for a process that does one thing and ends, and with it all its threads: another process makes the request,
 * and ends when the kernel is through with it. Where none can be started, the acknowledgement is awaited.
 *
 * @throws {NetlinkError} when the kernel refuses
 */
export function deleteAside(message: Message, netns: NetnsHandle | undefined): void {
  using fd = openSocket(netns);
  const { error } = firstNews(fd, { message, wanted: wantedBy(message) });
  if (error !== undefined) throw error;
}

function firstNews(fd: Fd, request: DeletionRequest): News {
  const { message } = request;
  const newsIn = listenFor(request);
  const sent = written(request);
  using aside = startAside(fd, sent);
  if (aside === undefined) {
    const all = transactSync(fd, sent).flatMap(newsIn);
    return all.find(({ isAnswer }) => isAnswer) ?? { isAnswer: true, error: unanswered(message) };
  }
  while (aside.awaitAnswer()) {
    const [news] = newsIn(received(fd));
    if (news !== undefined) return news;
  }
  return { isAnswer: true, error: unanswered(message) };
}

function startAside(fd: Fd, request: Uint8Array): Aside | undefined {
  try {
    return sendAside(fd, request);
  } catch (error) {
    if (SysError.is(error)) return undefined;
    throw error;
  }
}

function received(fd: Fd): Uint8Array {
  try {
    return recv(fd, undefined, MSG.DONTWAIT) ?? NOTHING;
  } catch (error) {
    // What was lost, the acknowledgement makes up for.
    if (SysError.is(error, 'ENOBUFS')) return NOTHING;
    throw error;
  }
}

const NOTHING = new Uint8Array();

/** The announcement, or the acknowledgement. */
interface News {
  readonly isAnswer: boolean;
  readonly error?: NetlinkError | undefined;
}

/** What is there to say of a request, of each datagram that comes. */
function listenFor({ message, wanted, before = [], onRefused }: DeletionRequest): Listener {
  const own = before.length + 1;
  const left = new Set(wanted);
  return (datagram) =>
    readMessages(datagram).flatMap((frame): readonly News[] => {
      const { sequence, type } = frame;
      const verdict = verdictOf(frame);
      if (sequence < own) {
        if (verdict !== undefined && verdict.errnum !== 0) {
          left.delete(wanted[sequence - 1] ?? 0);
          onRefused?.(sequence - 1);
        }
        return [];
      }
      if (sequence !== own) return [];
      if (verdict !== undefined) {
        const { errnum, extAck } = verdict;
        return [
          {
            isAnswer: true,
            error: errnum === 0 ? undefined : new NetlinkError(message.operation, errnum, extAck),
          },
        ];
      }
      // Bridges tell that a port has left with the same message in another family.
      if (type !== RTM.DELLINK || frame.family !== AF.UNSPEC) return [];
      // With one end of a veth its other one is announced, if that is in the same namespace.
      const isWanted = wanted.length === 0 || left.delete(frame.read(ifinfomsg).index);
      return isWanted && left.size === 0 ? [{ isAnswer: false }] : [];
    });
}

type Listener = (datagram: Uint8Array) => readonly News[];

/** All messages of a request, numbered from 1 on. */
function written({ before = [], message }: DeletionRequest): Uint8Array {
  const writer = new Writer();
  const all = [...before, { ...message, flags: (message.flags ?? 0) | NLM_F.ECHO }];
  all.forEach(({ type, flags = 0, body }, index) => {
    writeMessage(writer, { type, flags: NLM_F.REQUEST | NLM_F.ACK | flags, sequence: index + 1, body });
  });
  return writer.finish();
}

function unanswered({ operation }: Message): NetlinkError {
  return new NetlinkError(`${operation}, which was not answered`, EPROTO);
}

const EPROTO = 71;

/** struct sockaddr_nl */
const sockaddrNl = struct('sockaddr_nl', { family: u16, pad: pad(2), port: u32, groups: u32 });

/**
 * A socket with a port of its own, at random: of a veth the other end is announced too, in its namespace, to whatever
 * socket has the same port there. The kernel gives the first socket in each namespace the process's number.
 */
function openSocket(netns: NetnsHandle | undefined): Fd {
  const fd = socket({ family: AF.NETLINK, type: SOCK.RAW, protocol: NETLINK.ROUTE, netns });
  try {
    setsockopt(fd, SOL.NETLINK, NETLINK_OPTION.EXT_ACK, 1);
    setsockopt(fd, SOL.NETLINK, NETLINK_OPTION.CAP_ACK, 1);
    for (let attempt = 1; ; attempt++) {
      const port = (PORTS + Math.floor(Math.random() * PORTS)) >>> 0;
      try {
        bind(fd, encode(sockaddrNl, { family: AF.NETLINK, port }));
        return fd;
      } catch (error) {
        if (!SysError.is(error, 'EADDRINUSE') || attempt === ATTEMPTS) throw error;
      }
    }
  } catch (error) {
    fd.close();
    throw error;
  }
}

/** Above every process number, and below what the kernel gives from its own upper end. */
const PORTS = 0x4000_0000;
const ATTEMPTS = 10;

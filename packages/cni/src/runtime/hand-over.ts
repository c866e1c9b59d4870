/** Handing a call over to the agent, as native/shim does it. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AF,
  connect,
  currentNetns,
  type Fd,
  MSG,
  O,
  openFile,
  openNetns,
  socket as openSocket,
  recv,
  SOCK,
  SysError,
  send,
  sendDescriptors,
  watch,
} from '@heddle/sys';
import { encode, u16 } from '@heddle/wire';
import { HANDOVER_FLAG, type Handover, HandoverError, handoverBytes } from './handover.ts';
import { type Answer, decodeAnswer } from './handover-answer.ts';

/** What is handed over; the namespaces are this thread's, and what CNI_NETNS names. */
export type OutgoingCall = Pick<Handover, 'type' | 'program' | 'env' | 'stdin' | 'flags'>;

/** To whom, and for how long. */
export interface HandOverOptions {
  /** The path of the agent's socket. */
  readonly socket: string;
  /** Milliseconds. */
  readonly patience: number;
  /** Hangs up when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Hands over a call. Up to the first wait everything is done, so that the namespaces are those of the thread that calls.
 *
 * @returns the answer; `not taken` when the agent has surely not begun, `lost` when it may have
 */
export async function handOver(
  call: OutgoingCall,
  options: HandOverOptions,
): Promise<Answer | 'not taken' | 'lost'> {
  using stack = new DisposableStack();
  let client: Fd;
  try {
    client = stack.use(openSocket({ family: AF.UNIX, type: SOCK.STREAM, nonblocking: true }));
    connect(client, Buffer.concat([encode(u16, AF.UNIX), Buffer.from(`${options.socket}\0`)]));
    await sendCall(client, call);
  } catch (error) {
    if (error instanceof SysError) return 'not taken';
    throw error;
  }
  try {
    return decodeAnswer(await receive(client, options));
  } catch (error) {
    // The kernel says so when the agent went without having read everything.
    if (SysError.is(error, 'ECONNRESET')) return 'not taken';
    if (error instanceof SysError || error instanceof HandoverError) return 'lost';
    throw error;
  }
}

async function sendCall(client: Fd, call: OutgoingCall): Promise<void> {
  using own = new DisposableStack();
  const mounts = own.use(openFile('/proc/thread-self/ns/mnt', O.RDONLY));
  const netns = own.use(netnsOf(call));
  const flags = call.flags | ('number' in netns ? HANDOVER_FLAG.NETNS : 0);
  const descriptors = [own.use(currentNetns()), mounts, ...('number' in netns ? [netns] : [])];
  const bytes = handoverBytes({ ...call, flags, time: BigInt(Date.now()) * 1_000_000n });
  for (let done = sendDescriptors(client, bytes, descriptors); done < bytes.length; ) {
    try {
      done += send(client, bytes.subarray(done));
    } catch (error) {
      if (!SysError.is(error, 'EAGAIN')) throw error;
      await sleep(1);
    }
  }
}

/** What CNI_NETNS names; without it the agent says what is wrong with the path. */
function netnsOf({ env }: OutgoingCall): Fd | Disposable {
  const path = env['CNI_NETNS'] ?? '';
  try {
    return path === '' ? new DisposableStack() : openNetns(path);
  } catch (error) {
    if (error instanceof SysError) return new DisposableStack();
    throw error;
  }
}

async function receive(client: Fd, { patience, signal }: HandOverOptions): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const portions: Uint8Array[] = [];
  const take = () => {
    try {
      for (;;) {
        const portion = recv(client, PORTION, MSG.DONTWAIT);
        if (portion === undefined) return;
        if (portion.length === 0) return resolve(Buffer.concat(portions));
        portions.push(portion);
      }
    } catch (error) {
      reject(error);
    }
  };
  const giveUp = () => reject(new HandoverError('wait for the agent: given up'));
  const timer = setTimeout(giveUp, patience);
  signal?.addEventListener('abort', giveUp, { once: true });
  const watching = watch(client, take);
  if (signal?.aborted) giveUp();
  try {
    return await promise;
  } finally {
    watching[Symbol.dispose]();
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

/** Bytes. */
const PORTION = 64 * 1024;

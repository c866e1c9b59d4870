/** What asks greeters: over UDP, over TCP, and for a stream of bytes. */
import type { Addr } from '@heddle/netaddr';
import { connect, type Fd, type NetnsHandle, recv, SOCK, SysError, send, socket } from '@heddle/sys';
import { awaitReadable } from './await-readable.ts';
import { GREETER_PORT } from './greeter.ts';
import { CHUNK, patternAt } from './pattern.ts';
import { familyNumber, socketAddress } from './socket-address.ts';

/** Who answered, and from which address it was asked; or why nobody did. */
export type Greeting =
  | { readonly answered: true; readonly name: string; readonly seenAs: string }
  | { readonly answered: false; readonly error?: string };

/** What came of a transfer. */
export type TransferOutcome =
  | { readonly complete: true; readonly milliseconds: number }
  | { readonly complete: false; readonly received: number; readonly error: string };

/** Asks over UDP, again and again until there is an answer. */
export function greetByUdp(netns: NetnsHandle, to: Addr, timeout: number): Promise<Greeting> {
  return attempt(async () => {
    using fd = open(netns, to, SOCK.DGRAM);
    const ask = () => void send(fd, new Uint8Array(1));
    ask();
    return await awaitReadable(fd, () => greetingIn(recv(fd)), { timeout, again: ask });
  });
}

/** Connects over TCP and hears the greeting. */
export function greetByTcp(netns: NetnsHandle, to: Addr, timeout: number): Promise<Greeting> {
  return attempt(async () => {
    using fd = open(netns, to, SOCK.STREAM);
    return await awaitReadable(fd, () => greetingIn(recv(fd, CHUNK)), { timeout });
  });
}

/** Has bytes sent over TCP, and looks at each of them. Fails when nothing comes for so many milliseconds. */
export async function transfer(
  netns: NetnsHandle,
  from: Addr,
  { bytes, timeout }: { readonly bytes: number; readonly timeout: number },
): Promise<TransferOutcome> {
  const started = performance.now();
  let received = 0;
  try {
    using fd = open(netns, from, SOCK.STREAM);
    const greeting = await awaitReadable(fd, () => recv(fd, CHUNK), { timeout });
    if (greetingIn(greeting) === undefined) return { complete: false, received, error: 'no answer' };
    send(fd, Buffer.from(`send ${bytes}\n`));
    while (received < bytes) {
      const chunk = await awaitReadable(fd, () => recv(fd, CHUNK), { timeout });
      if (chunk === undefined) return { complete: false, received, error: 'nothing came any more' };
      if (chunk.length === 0) return { complete: false, received, error: 'the other end closed' };
      if (!patternAt(received, chunk.length).equals(chunk)) {
        return { complete: false, received, error: 'other bytes than were sent' };
      }
      received += chunk.length;
    }
    return { complete: true, milliseconds: performance.now() - started };
  } catch (error) {
    if (error instanceof SysError) return { complete: false, received, error: error.errno };
    throw error;
  }
}

async function attempt(ask: () => Promise<Greeting | undefined>): Promise<Greeting> {
  try {
    return (await ask()) ?? { answered: false };
  } catch (error) {
    if (error instanceof SysError) return { answered: false, error: error.errno };
    throw error;
  }
}

function open(netns: NetnsHandle, to: Addr, type: number): Fd {
  const fd = socket({ family: familyNumber(to.family), type, netns, nonblocking: true });
  try {
    connect(fd, socketAddress(to, GREETER_PORT));
    return fd;
  } catch (error) {
    // What a connection comes to is heard when the socket can be read.
    if (SysError.is(error, 'EINPROGRESS')) return fd;
    fd.close();
    throw error;
  }
}

function greetingIn(bytes: Uint8Array | undefined): Greeting | undefined {
  if (bytes === undefined) return undefined;
  const words = /^(\S+) (\S+)\n$/.exec(Buffer.from(bytes).toString('latin1'));
  const [, name, seenAs] = words ?? [];
  return name === undefined || seenAs === undefined ? undefined : { answered: true, name, seenAs };
}

/** `node:net`, as much of it as the program uses: Unix sockets of streams. */
import {
  AF,
  accept,
  bind,
  connect as connectTo,
  Fd,
  listen,
  MSG,
  recv,
  SOCK,
  SysError,
  send,
  socket,
  watch,
} from '@heddle/sys';
import { Emitter } from './emitter.ts';
import { systemError } from './errors.ts';
import { clearTimer, setTimer, type Timer } from './timers.ts';

/** Emits `connect`, `data`, `error`, and `close` at the end of all. */
export class Socket extends Emitter {
  #fd: Fd | undefined;
  #reading: Disposable | undefined;
  #unsent: Uint8Array[] = [];
  #ending = false;
  #text = false;
  #patience: Timer | undefined;
  readonly #received: Uint8Array[] = [];
  #isIterated = false;
  #isOver = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  /** @param fd of a connection; without one the caller connects */
  constructor(fd?: Fd) {
    super();
    if (fd !== undefined) this.open(fd);
  }

  /** Takes over a connection: reads from it, and writes what was to be said already. */
  open(fd: Fd): void {
    if (this.#isOver) {
      fd.close();
      return;
    }
    this.#fd = fd;
    this.#reading = watch(fd, () => this.#read());
    this.#flush();
  }

  setEncoding(_encoding: 'utf8'): this {
    this.#text = true;
    return this;
  }

  /** Reading has begun already. */
  resume(): this {
    return this;
  }

  write(data: string | Uint8Array): void {
    this.#unsent.push(typeof data === 'string' ? host.encode(data) : data);
    if (this.#fd !== undefined) this.#flush();
  }

  /** Closes when all is said, and calls back then. */
  end(data?: string, ended?: () => void): this {
    if (ended !== undefined) this.once('close', ended);
    this.#ending = true;
    if (data === undefined) this.#flush();
    else this.write(data);
    return this;
  }

  /** Calls back once when nothing has come for so long. */
  setTimeout(milliseconds: number, listener: () => void): this {
    clearTimer(this.#patience);
    this.#patience = setTimer(listener, milliseconds).unref();
    return this;
  }

  destroy(error?: Error): this {
    if (this.#isOver) return this;
    this.#isOver = true;
    clearTimer(this.#patience);
    this.#reading?.[Symbol.dispose]();
    this.#fd?.close();
    this.#fd = undefined;
    if (error !== undefined && this.#isIterated) this.#failure = error;
    else if (error !== undefined) this.emit('error', error);
    this.#wake?.();
    this.emit('close');
    return this;
  }

  /** The chunks as they come in. */
  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    this.#isIterated = true;
    return this.#chunks();
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#received.shift();
      if (chunk !== undefined) yield chunk;
      else if (this.#failure !== undefined) throw this.#failure;
      else if (this.#isOver) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #read(): void {
    const chunk = this.#attempt('read', (fd) => recv(fd, CHUNK, MSG.DONTWAIT));
    if (chunk === undefined) return;
    if (chunk.length === 0) {
      // As in Node.js: when the other side has said all, so have we.
      this.#reading?.[Symbol.dispose]();
      this.end();
      return;
    }
    if (this.#patience !== undefined) this.setTimeout(this.#patience.milliseconds, this.#patience.call);
    if (this.#isIterated) this.#received.push(chunk);
    this.#wake?.();
    this.emit('data', this.#text ? host.decode(chunk) : chunk);
  }

  #flush(): void {
    while (this.#unsent[0] !== undefined) {
      const bytes = this.#unsent[0];
      const sent = this.#attempt('write', (fd) => send(fd, bytes, { flags: MSG.DONTWAIT }));
      // The other side is slow. There is no event for that here, and hardly ever a need.
      if (sent === undefined) {
        if (this.#fd !== undefined) setTimer(() => this.#flush(), 5);
        return;
      }
      if (sent < bytes.length) this.#unsent[0] = bytes.subarray(sent);
      else this.#unsent.shift();
    }
    if (this.#ending) this.destroy();
  }

  /** Undefined when it would block, or has failed. */
  #attempt<T>(syscall: string, operation: (fd: Fd) => T): T | undefined {
    if (this.#fd === undefined) return undefined;
    try {
      return operation(this.#fd);
    } catch (error) {
      if (!SysError.is(error)) throw error;
      if (error.errno !== 'EAGAIN') this.destroy(systemError(error.errnum, syscall));
      return undefined;
    }
  }
}

const CHUNK = 64 * 1024;

/** Emits `error` when it cannot listen. */
export class Server extends Emitter {
  readonly #serve: (socket: Socket) => void;
  #fd: Fd | undefined;

  constructor(serve: (socket: Socket) => void) {
    super();
    this.#serve = serve;
  }

  listen({ path, fd }: { readonly path?: string; readonly fd?: number }, listening: () => void): this {
    setTimer(() => {
      try {
        this.#open(path === undefined ? new Fd(fd ?? -1) : listenerAt(path));
      } catch (error) {
        this.emit('error', SysError.is(error) ? systemError(error.errnum, 'listen', path) : error);
        return;
      }
      listening();
    });
    return this;
  }

  close(): this {
    this.#fd?.close();
    return this;
  }

  #open(fd: Fd): void {
    this.#fd = fd;
    watch(fd, () => {
      // One that has been awaited by several, or has gone again, is no longer there.
      const peer = accept(fd);
      if (peer !== undefined) this.#serve(new Socket(peer));
    });
  }
}

export function createServer(serve: (socket: Socket) => void): Server {
  return new Server(serve);
}

export function connect(path: string): Socket {
  const connection = new Socket();
  setTimer(() => {
    try {
      const fd = streamSocket();
      try {
        connectTo(fd, addressOf(path));
      } catch (error) {
        fd.close();
        throw error;
      }
      connection.open(fd);
    } catch (error) {
      connection.destroy(SysError.is(error) ? systemError(error.errnum, 'connect', path) : (error as Error));
      return;
    }
    connection.emit('connect');
  });
  return connection;
}

function listenerAt(path: string): Fd {
  const fd = streamSocket();
  try {
    bind(fd, addressOf(path));
    listen(fd, BACKLOG);
    return fd;
  } catch (error) {
    fd.close();
    throw error;
  }
}

const BACKLOG = 511;

function streamSocket(): Fd {
  return socket({ family: AF.UNIX, type: SOCK.STREAM });
}

/** struct sockaddr_un: the family in two bytes, and the path ended by a zero byte. */
function addressOf(path: string): Uint8Array {
  const address = new Uint8Array(PATH_ROOM + 2);
  const bytes = host.encode(path);
  if (bytes.length >= PATH_ROOM) throw systemError(ENAMETOOLONG, 'connect', path);
  new Uint16Array(address.buffer)[0] = AF.UNIX;
  address.set(bytes, 2);
  return address.subarray(0, bytes.length + 3);
}

const PATH_ROOM = 108;
const ENAMETOOLONG = 36;

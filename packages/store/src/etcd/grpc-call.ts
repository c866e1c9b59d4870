/** One call of gRPC over HTTP/2: messages out, messages in, a status at the end. */
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';

/** The status numbers that are told apart. */
export const STATUS = {
  OK: 0,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  OUT_OF_RANGE: 11,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/** HTTP/2's code for a stream that is not needed any more: RFC 9113, section 7. */
const CANCEL = 8;

/** A call that did not end with OK. */
export class GrpcFailure extends Error {
  readonly status: number;
  /** Whether the server may have got the request. */
  readonly sent: boolean;

  constructor(status: number, message: string, sent: boolean, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.sent = sent;
  }
}

/** What a call is about. */
export interface CallTarget {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A call under way. */
export interface GrpcCall {
  send(message: Uint8Array): void;
  /** No more messages come from here. */
  end(): void;
  /** What the server sends. @throws {GrpcFailure} at the end, unless that is OK */
  receive(): AsyncGenerator<Uint8Array, void>;
  cancel(): void;
}

/** Begins a call on a connection. @param ended is called once nothing more comes of it */
export function openCall(
  session: ClientHttp2Session,
  { path, metadata }: CallTarget,
  ended: () => void,
): GrpcCall {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...metadata,
  });
  // Before anybody listens in `receive`, and after: whoever reads the stream gets it as well.
  stream.on('error', () => {});
  stream.once('close', ended);
  const outcome = new Outcome(stream);
  return {
    send: (message) => void stream.write(frame(message)),
    end: () => void stream.end(),
    cancel: () => stream.close(CANCEL),
    receive: () => receive(stream, outcome),
  };
}

async function* receive(stream: ClientHttp2Stream, outcome: Outcome): AsyncGenerator<Uint8Array, void> {
  const frames = new Frames();
  try {
    for await (const chunk of stream) yield* frames.add(chunk as Buffer);
  } catch (error) {
    throw new GrpcFailure(STATUS.UNAVAILABLE, textOf(error), true, error);
  }
  outcome.throwUnlessOk();
}

/** What headers and trailers say of a call. */
class Outcome {
  #status: number | undefined;
  #message = 'the connection ended';

  constructor(stream: ClientHttp2Stream) {
    const note = (headers: IncomingHttpHeaders) => {
      const status = headers['grpc-status'];
      if (status === undefined) return;
      this.#status = Number(status);
      this.#message = decodeURIComponent(String(headers['grpc-message'] ?? `status ${status}`));
    };
    stream.on('trailers', note);
    stream.on('response', (headers) => {
      note(headers);
      const http = headers[':status'];
      if (http !== 200) this.#message = `not gRPC, but HTTP with status ${http}`;
    });
  }

  throwUnlessOk(): void {
    if (this.#status === STATUS.OK) return;
    throw new GrpcFailure(this.#status ?? STATUS.UNAVAILABLE, this.#message, true);
  }
}

/** A message behind a byte for compression (none) and its length. */
function frame(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(5 + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  return framed;
}

/** Puts messages together from whatever pieces they come in. */
class Frames {
  #pieces: Buffer[] = [];
  #length = 0;

  *add(piece: Buffer): Generator<Uint8Array, void> {
    this.#pieces.push(piece);
    this.#length += piece.length;
    while (this.#length >= 5) {
      const size = 5 + this.#joined(5).readUInt32BE(1);
      if (this.#length < size) return;
      const whole = this.#joined(size);
      this.#length -= size;
      this.#pieces = whole.length > size ? [whole.subarray(size)] : [];
      yield whole.subarray(5, size);
    }
  }

  /** The first piece, joined with others only if it is too short: a long message is copied once. */
  #joined(atLeast: number): Buffer {
    const [first] = this.#pieces;
    if (first !== undefined && first.length >= atLeast) return first;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * A plugin's invocation as bytes: what the shim sends to the agent, and what it leaves in a file when a DEL has to wait
 * for the agent. Source: `struct request` in native/shim/shim.c.
 */
import { HeddleError } from '@heddle/errors';
import { decode, encode, pad, struct, u32, u64, type Value } from '@heddle/wire';

/** The fixed beginning. Behind it come `head` bytes of NUL-terminated texts, then stdin. All in host order. */
export const handoverHeader = struct('heddle_request', {
  magic: u32,
  version: u32,
  flags: u32,
  /** Bytes of texts: plugin type, path of the program that was called, then NAME=VALUE. */
  head: u32,
  stdin: u32,
  reserved: pad(4),
  /** The file of CNI_NETNS, where that could be opened. */
  netnsDevice: u64,
  netnsInode: u64,
  /** When the call began: nanoseconds since the epoch. */
  time: u64,
});

/** Bytes of the fixed beginning. */
export const HANDOVER_HEADER_SIZE = encode(handoverHeader, {}).length;

/** The version that this code speaks. */
export const HANDOVER_VERSION = 1;

/** Bits of the header's `flags`. */
export const HANDOVER_FLAG = {
  /** The third descriptor that came along is CNI_NETNS. */
  NETNS: 1,
  /** No call: the agent is asked how it is. */
  STATUS: 2,
  /** No call: the agent is asked for its metrics. */
  METRICS: 4,
  /** Not one plugin is called but several; stdin says which, see {@link chainBytes}. */
  CHAIN: 8,
} as const;

/** An invocation that was handed over. */
export interface Handover {
  readonly type: string;
  /** The path of the program that the runtime called. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: Uint8Array;
  readonly flags: number;
  /** Identity of what CNI_NETNS named, as `NetnsHandle` has it. */
  readonly netnsKey: string | undefined;
  /** When the call began: nanoseconds since the epoch. */
  readonly time: bigint;
}

/** Bytes that are no handover. */
export class HandoverError extends HeddleError {
  override readonly code = 'HANDOVER_MALFORMED';
}

/** The most that is taken, in bytes. */
export const HANDOVER_LIMIT = { head: 1 << 20, stdin: 16 << 20 } as const;

/**
 * Reads the beginning, and checks it: what follows is `head + stdin` bytes long.
 *
 * @throws {HandoverError} for what is none, of another version or too large
 */
export function readHandoverHeader(bytes: Uint8Array): Value<typeof handoverHeader> {
  if (bytes.length < HANDOVER_HEADER_SIZE) throw new HandoverError('read a handover: it is cut off');
  const header = decode(handoverHeader, bytes);
  if (header.magic !== MAGIC) throw new HandoverError('read a handover: it does not begin like one');
  if (header.version !== HANDOVER_VERSION) {
    throw new HandoverError(`read a handover: version ${header.version} is not ${HANDOVER_VERSION}`);
  }
  if (header.head > HANDOVER_LIMIT.head || header.stdin > HANDOVER_LIMIT.stdin) {
    throw new HandoverError(`read a handover: ${header.head} and ${header.stdin} bytes are too many`);
  }
  return header;
}

/**
 * Reads a whole handover.
 *
 * @param header its beginning, where that was read before
 * @throws {HandoverError} for anything else
 */
export function readHandover(bytes: Uint8Array, header = readHandoverHeader(bytes)): Handover {
  const { flags, head, stdin, netnsDevice, netnsInode, time } = header;
  const body = bytes.subarray(HANDOVER_HEADER_SIZE);
  if (body.length !== head + stdin)
    throw new HandoverError('read a handover: it has not the size that it tells');
  const [type = '', program = '', ...variables] = texts(body.subarray(0, head));
  return {
    ...{ type, program, flags, time },
    env: environmentOf(variables),
    stdin: body.subarray(head),
    netnsKey: netnsInode === 0n ? undefined : `${netnsDevice}:${netnsInode}`,
  };
}

/** A handover as bytes, of what is given of it. */
export function handoverBytes(call: Partial<Omit<Handover, 'netnsKey'>>): Uint8Array {
  const { type = '', program = '', env = {}, stdin = new Uint8Array(), flags = 0, time = 0n } = call;
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const head = Buffer.from([type, program, ...variables].map((text) => `${text}\0`).join(''));
  const sizes = { head: head.length, stdin: stdin.length };
  const begin = encode(handoverHeader, { magic: MAGIC, version: HANDOVER_VERSION, flags, time, ...sizes });
  return Buffer.concat([begin, head, stdin]);
}

/** `HED1` in memory. */
const MAGIC = 0x31444548;

function texts(head: Uint8Array): readonly string[] {
  if (head.length === 0) return [];
  if (head.at(-1) !== 0) throw new HandoverError('read a handover: its texts do not end');
  return utf8.decode(head.subarray(0, -1)).split('\0');
}

const utf8 = new TextDecoder();

/** The first of several variables of one name counts, as with getenv(3). */
function environmentOf(variables: readonly string[]): Readonly<Record<string, string>> {
  const env: Record<string, string> = Object.create(null);
  for (const variable of variables) {
    const at = variable.indexOf('=');
    if (at <= 0) continue;
    env[variable.slice(0, at)] ??= variable.slice(at + 1);
  }
  return env;
}

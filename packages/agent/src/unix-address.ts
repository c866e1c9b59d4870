/** Addresses of Unix sockets: struct sockaddr_un — unix(7). */
import { AF } from '@heddle/sys';
import { encode, u16 } from '@heddle/wire';
import { AgentError } from './agent-error.ts';

/**
 * The address for a path; one that begins with `@` is an abstract name, as systemd writes them.
 *
 * @throws {AgentError} AGENT_SOCKET when it is too long
 */
export function unixAddress(path: string): Uint8Array {
  // An abstract name is as long as the address says, a path ends with a NUL.
  const name = Buffer.from(path.startsWith('@') ? `\0${path.slice(1)}` : `${path}\0`);
  if (name.length > ROOM) {
    const why = `the path of a socket has at most ${ROOM - 1} bytes`;
    throw new AgentError('AGENT_SOCKET', `use a socket at ${path}: ${why}`);
  }
  return Buffer.concat([encode(u16, AF.UNIX), name]);
}

/** Bytes of sun_path. */
const ROOM = 108;

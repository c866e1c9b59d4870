/** The socket that the daemon listens on: systemd's, or one of its own — sd_listen_fds(3). */

import { chmodSync, rmSync } from 'node:fs';
import { connect, type ListenOptions, type Server } from 'node:net';
import { dirname } from 'node:path';
import { makeDirectory } from '@heddle/sys';
import { DhcpError } from '../dhcp-error.ts';

/** The environment and the process, as far as they say whether systemd handed a socket over. */
export interface ActivationFacts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
}

/**
 * The descriptor of a socket that systemd listens on already.
 *
 * @returns undefined when there is none
 * @throws {DhcpError} DHCP_USAGE when there are several
 */
export function activatedSocket({ env, pid }: ActivationFacts): number | undefined {
  if (env['LISTEN_PID'] !== `${pid}`) return undefined;
  const count = Number(env['LISTEN_FDS'] ?? 0);
  if (count > 1)
    throw new DhcpError('DHCP_USAGE', `Too many (${count}) FDs passed through socket activation`);
  return count === 1 ? FIRST_FD : undefined;
}

/**
 * Makes the server listen.
 *
 * @returns how to take the socket away again
 * @throws {DhcpError} DHCP_USAGE when another daemon listens there
 */
export async function listen(
  server: Server,
  path: string,
  activated: number | undefined,
): Promise<() => void> {
  if (activated !== undefined) {
    await listening(server, { fd: activated });
    // It is systemd's.
    return () => {};
  }
  makeDirectory(dirname(path), 0o700);
  try {
    await listening(server, { path });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'))
      throw failed(path, error);
    if (await answers(path)) throw failed(path, error);
    // Left by a daemon that was killed.
    rmSync(path, { force: true });
    await listening(server, { path });
  }
  chmodSync(path, 0o660);
  return () => rmSync(path, { force: true });
}

/** SD_LISTEN_FDS_START */
const FIRST_FD = 3;

function listening(server: Server, where: ListenOptions | { readonly fd: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(where, () => {
    server.off('error', reject);
    resolve();
  });
  return promise;
}

function answers(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.on('connect', () => resolve(true));
  socket.on('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

function failed(path: string, cause: unknown): DhcpError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new DhcpError('DHCP_USAGE', `Error getting listener: listen unix ${path}: ${why}`, { cause });
}

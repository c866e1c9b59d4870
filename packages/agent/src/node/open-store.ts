/** The cluster's store, by its URL. */
import { readFileSync } from 'node:fs';
import type { Store } from '@heddle/store';
import type { TlsOptions } from '@heddle/store/etcd';
import type { NodeConfig } from './node-config.ts';
import { NodeError } from './node-error.ts';

/** What of a node's configuration says which store it has. */
export type StoreConfig = Pick<NodeConfig, 'store' | 'tls' | 'user' | 'password'>;

/**
 * Opens the store; what is behind it is loaded then, for it brings SQLite or HTTP/2 along: `sqlite:///an/absolute/path`, or `etcd://host:port,host:port`, over TLS where certificates are given.
 *
 * @throws {NodeError} NODE_CONFIG_INVALID for a URL or certificates that are none
 * @throws {StoreError} as the store does
 * @example await using store = await openStore({ store: 'sqlite:///var/lib/heddle/store.db' });
 */
export async function openStore(config: StoreConfig): Promise<Store> {
  const { store: url, tls, user, password } = config;
  const path = /^sqlite:\/\/(\/[^?#]+)$/.exec(url)?.[1];
  if (path !== undefined) {
    if (tls !== undefined || user !== undefined) {
      throw invalid(`store ${url}: a file has neither certificates nor users`);
    }
    const { openSqlite } = await import('@heddle/store/sqlite');
    return await openSqlite({ path });
  }
  const members = /^etcd:\/\/([^/?#@]+)\/?$/.exec(url)?.[1];
  if (members === undefined) {
    throw invalid(`store ${url}: expected sqlite:///an/absolute/path or etcd://host:port,host:port`);
  }
  if ((user === undefined) !== (password === undefined)) {
    throw invalid(`store ${url}: a user needs a password, and a password a user`);
  }
  const { openEtcd } = await import('@heddle/store/etcd');
  const scheme = tls === undefined ? 'http' : 'https';
  return openEtcd({
    endpoints: members.split(',').map((member) => `${scheme}://${withPort(member.trim())}`),
    ...(tls !== undefined && { tls: readTls(tls) }),
    ...(user !== undefined && password !== undefined && { credentials: { name: user, password } }),
  });
}

function withPort(member: string): string {
  return /:\d+$/.test(member.replace(/^\[.*\]/, '')) ? member : `${member}:2379`;
}

function readTls({ ca, cert, key }: NonNullable<StoreConfig['tls']>): TlsOptions {
  if ((cert === undefined) !== (key === undefined)) {
    throw invalid('tls: a certificate needs its key, and a key its certificate');
  }
  return {
    ...(ca !== undefined && { ca: readPem(ca) }),
    ...(cert !== undefined && { cert: readPem(cert) }),
    ...(key !== undefined && { key: readPem(key) }),
  };
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw invalid(`tls: read ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

function invalid(message: string, cause?: unknown): NodeError {
  return new NodeError('NODE_CONFIG_INVALID', message, { cause });
}

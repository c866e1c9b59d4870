/** Serves the metrics over HTTP, for Prometheus: opt-in, read-only, on an address of its own. */

import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo, ListenOptions } from 'node:net';
import { AgentError } from '../agent-error.ts';
import { listenAtPath } from '../listen-at-path.ts';

/**
 * An address to listen at: `host:port`, `[v6]:port`, `:port` for every address, or the path of a Unix socket, with
 * `unix:` before it or not.
 *
 * @throws {AgentError} AGENT_SETTING for anything else
 */
export function parseListenAddress(text: string): ListenOptions {
  const path = text.startsWith('unix:') ? text.slice('unix:'.length) : text;
  if (path.startsWith('/')) return { path };
  const [, v6, name, port] = /^(?:\[([\da-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) {
    const wanted = 'it must be host:port, [v6]:port, :port or the path of a socket';
    throw new AgentError('AGENT_SETTING', `listen at ${JSON.stringify(text)}: ${wanted}`);
  }
  const host = v6 ?? name;
  // While a new agent takes over from an old one, both listen.
  return { port: Number(port), reusePort: true, ...(host !== '' && { host }) };
}

/** A listener that serves. */
export interface MetricsListener extends AsyncDisposable {
  /** Where: `127.0.0.1:9464`, or a path. */
  readonly address: string;
}

/**
 * Serves `GET /metrics`, and `GET /healthz` for who only wants to know whether the agent lives.
 *
 * @throws {AgentError} AGENT_SOCKET when the address cannot be listened at
 */
export async function listenForMetrics(
  where: ListenOptions,
  text: () => Promise<string>,
): Promise<MetricsListener> {
  // Loaded only where it is wanted: it costs memory.
  const { createServer } = await import('node:http');
  const limits = { requestTimeout: PATIENCE, headersTimeout: PATIENCE };
  const server = createServer(limits, async (request, response) => {
    const { status, body } = await answerTo(request, text);
    response.writeHead(status, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
    response.end(request.method === 'HEAD' ? '' : body);
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.keepAliveTimeout = PATIENCE;
  const { path } = where;
  const listening = path === undefined ? listen(server, where) : listenAtPath(server, path);
  const socket = await listening.catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AgentError('AGENT_SOCKET', `listen for metrics: ${why}`, { cause });
  });
  const address = server.address();
  return {
    address: path ?? (address !== null && typeof address === 'object' ? hostAndPort(address) : ''),
    async [Symbol.asyncDispose]() {
      socket?.[Symbol.dispose]();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function listen(server: Server, where: ListenOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(where, resolve);
  await promise;
}

function hostAndPort({ address, port, family }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
}

/** A page that cannot be made is the scraper's to know, and no reason to end. */
async function answerTo({ url = '', method = '' }: IncomingMessage, text: () => Promise<string>) {
  const page = PAGES[url.split('?')[0] ?? ''];
  if (page === undefined) return { status: 404, body: '' };
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: '' };
  try {
    return { status: 200, body: await page(text) };
  } catch (error) {
    return { status: 500, body: `${error instanceof Error ? error.message : error}\n` };
  }
}

const PAGES: Readonly<Record<string, (text: () => Promise<string>) => string | Promise<string>>> = {
  '/metrics': (text) => text(),
  '/healthz': () => 'ok\n',
};
/** Milliseconds. */
const PATIENCE = 5000;
const MOST_CONNECTIONS = 16;

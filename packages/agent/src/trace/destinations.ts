/** Where traces go: to a collector over OTLP/HTTP, or into a file. */
import { appendFile } from 'node:fs/promises';
import { AgentError } from '../agent-error.ts';
import type { SendTraces } from './exporter.ts';

/** Environment variables as Node.js has them. */
type Environment = Readonly<Record<string, string | undefined>>;

/** What OpenTelemetry's variables say about traces. */
export interface TraceSettings {
  /** Where a collector takes them. */
  readonly url: URL | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Of whoever makes them. */
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Reads OTEL_EXPORTER_OTLP_ENDPOINT and its like — OpenTelemetry's "Environment Variable Specification" and "OTLP
 * Exporter Configuration".
 *
 * @throws {AgentError} AGENT_SETTING for an endpoint that is no HTTP address
 */
export function traceSettings(env: Environment): TraceSettings {
  const isOff = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  const attributes = pairs(env['OTEL_RESOURCE_ATTRIBUTES']);
  const name = env['OTEL_SERVICE_NAME'] || attributes['service.name'] || 'heddle-agent';
  return {
    url: isOff ? undefined : endpoint(env),
    headers: {
      ...pairs(env['OTEL_EXPORTER_OTLP_HEADERS']),
      ...pairs(env['OTEL_EXPORTER_OTLP_TRACES_HEADERS']),
    },
    attributes: { ...attributes, 'service.name': name },
  };
}

/** Posts to a collector. A request that is not answered in ten seconds is lost. */
export function toCollector(url: URL, headers: Readonly<Record<string, string>>): SendTraces {
  return async (request) => {
    // Loaded by the first span: it costs memory that an agent without traces need not have.
    const { request: open } =
      url.protocol === 'https:' ? await import('node:https') : await import('node:http');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const signal = AbortSignal.timeout(PATIENCE);
    const own = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(request) };
    const post = open(url, { method: 'POST', headers: { ...headers, ...own }, signal }, (response) => {
      response.resume();
      const status = response.statusCode ?? 0;
      if (status < 300) response.on('end', resolve);
      else reject(new AgentError('AGENT_TRACE', `send traces to ${url.href}: it answered ${status}`));
    });
    post.on('error', (error) =>
      reject(new AgentError('AGENT_TRACE', `send traces to ${url.href}: ${error.message}`, { cause: error })),
    );
    post.end(request);
    await promise;
  };
}

/** Appends to a file, one request a line, as OpenTelemetry's file exporter does. */
export function toFile(path: string): SendTraces {
  return async (request) => await appendFile(path, `${request}\n`, { mode: 0o600 });
}

const PATIENCE = 10_000;

function endpoint(env: Environment): URL | undefined {
  const exact = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || undefined;
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || undefined;
  const text = exact ?? (base && `${base.replace(/\/$/, '')}/v1/traces`);
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new AgentError('AGENT_SETTING', `send traces to ${JSON.stringify(text)}: it is no HTTP address`);
}

/** `a=b,c=d`, percent-encoded as in W3C Baggage. */
function pairs(text = ''): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const at = pair.indexOf('=');
      return at <= 0 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

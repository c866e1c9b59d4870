import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { SpanExporter, toCollector, toFile } from '@heddle/agent';
import { AgentLab, plugin } from './agent-lab.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const env = { CNI_NETNS: '/run/netns/nowhere', TRACEPARENT: `00-${TRACE}-${PARENT}-01` };
const resource = { version: '1', attributes: { 'service.name': 'heddle-agent' } };

interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, string>> }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

function spansIn(request: string): readonly SentSpan[] {
  return JSON.parse(request).resourceSpans[0].scopeSpans[0].spans;
}

/** A collector of OTLP over HTTP. */
async function collector(status = 200) {
  const requests: { url: string; type: string; token: string; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (text) => (body += text));
    request.on('end', () => {
      const { url = '', headers } = request;
      requests.push({ url, type: headers['content-type'] ?? '', token: `${headers['x-token']}`, body });
      response.writeHead(status).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...{ requests, url: new URL(`http://127.0.0.1:${port}/v1/traces`) },
    [Symbol.dispose]: () => void server.close(),
  };
}

function rethrow(error: unknown): never {
  throw error;
}

test('a traced call becomes a span under its caller’s, with one for each step, at a collector', async () => {
  await using lab = new AgentLab();
  using receiver = await collector();
  const send = toCollector(receiver.url, { 'x-token': 'secret' });
  const traces = new SpanExporter({ send, resource, onFailure: rethrow });

  await lab.agent(
    [
      plugin({
        async add(call) {
          await call.host.links.list();
          return { cniVersion: '1.1.0' };
        },
      }),
    ],
    { traces },
  );
  const before = BigInt(Date.now() - 1) * 1_000_000n;
  await lab.call({ env });
  await lab.call({ env: { ...env, TRACEPARENT: `00-${TRACE}-${PARENT}-00` } });
  await lab.call({ env: { ...env, TRACEPARENT: 'garbage' } });
  await traces.flush();
  const after = BigInt(Date.now() + 1) * 1_000_000n;

  const [request, ...more] = receiver.requests;
  assert.deepEqual(more, []);
  assert.partialDeepStrictEqual(request, { url: '/v1/traces', type: 'application/json', token: 'secret' });
  const [whole, ...steps] = spansIn(request?.body ?? '');
  assert.ok(whole !== undefined);
  assert.partialDeepStrictEqual(whole, { traceId: TRACE, parentSpanId: PARENT, name: 'ADD bridge', kind: 2 });
  assert.deepEqual(whole.attributes[0], { key: 'cni.command', value: { stringValue: 'ADD' } });
  assert.ok(BigInt(whole.startTimeUnixNano) >= before && BigInt(whole.endTimeUnixNano) <= after);
  assert.deepEqual([...new Set(steps.map(({ name }) => name))].toSorted(), ['kernel', 'turn']);
  for (const step of steps) {
    assert.partialDeepStrictEqual(step, { traceId: TRACE, parentSpanId: whole.spanId });
    assert.ok(BigInt(step.startTimeUnixNano) >= BigInt(whole.startTimeUnixNano));
    assert.ok(BigInt(step.endTimeUnixNano) <= BigInt(whole.endTimeUnixNano));
  }
  assert.equal(new Set([whole, ...steps].map(({ spanId }) => spanId)).size, steps.length + 1);
});

test('a call that fails makes a span that says why; a file takes them as well', async () => {
  await using lab = new AgentLab();
  const path = join(lab.directory, 'traces.jsonl');
  const traces = new SpanExporter({ send: toFile(path), resource, onFailure: rethrow });
  const failing = plugin({
    async del() {
      throw new Error('no such luck');
    },
  });
  await lab.agent([failing], { traces });
  for (let time = 0; time < 2; time++) {
    await lab.call({ command: 'DEL', env: { TRACEPARENT: env.TRACEPARENT } });
    await traces.flush();
  }
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  assert.equal(lines.length, 2);
  const [span] = spansIn(lines[0] ?? '');
  assert.deepEqual(span?.status, { code: 2, message: 'no such luck' });
  assert.ok(
    span?.attributes.some(({ key, value }) => key === 'cni.error_code' && value['intValue'] === '999'),
  );
});

test('a collector that refuses, or is not there, costs spans and nothing else', async () => {
  await using lab = new AgentLab();
  using refusing = await collector(503);
  const failures: string[] = [];
  const onFailure = (error: unknown) => failures.push(String(error));
  const urls = [refusing.url, new URL('http://127.0.0.1:1/v1/traces')];
  for (const url of urls) {
    await using traces = new SpanExporter({ send: toCollector(url, {}), resource, onFailure });
    const agent = await lab.agent([plugin()], { traces });
    assert.equal((await lab.call({ env })).exitCode, 0);
    await agent.stop();
  }
  assert.match(failures[0] ?? '', /it answered 503/);
  assert.match(failures[1] ?? '', /ECONNREFUSED/);
});

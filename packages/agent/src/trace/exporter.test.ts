import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SpanExporter } from './exporter.ts';
import type { Span } from './span.ts';

const RESOURCE = { version: '1', attributes: { 'service.name': 'test' } };
const span = (name: string): Span => ({
  ...{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentSpanId: 'c'.repeat(16), kind: 'internal' },
  ...{ name, start: 1_700_000_000_000.25, end: 1_700_000_000_001, attributes: { n: 1 } },
});

function rethrow(error: unknown): never {
  throw error;
}

test('spans go together, those that come meanwhile with the next request', async () => {
  const sent: string[][] = [];
  const exporter = new SpanExporter({
    ...{ resource: RESOURCE, onFailure: rethrow, delay: 60_000 },
    async send(request) {
      const [resource] = JSON.parse(request).resourceSpans;
      sent.push(resource.scopeSpans[0].spans.map(({ name }: Span) => name));
      if (sent.length === 1) exporter.add([span('c')]);
    },
  });
  exporter.add([span('a')]);
  exporter.add([span('b')]);
  await exporter.flush();
  await exporter[Symbol.asyncDispose]();
  assert.deepEqual(sent, [['a', 'b'], ['c']]);
});

test('times are nanoseconds, numbers are typed', async () => {
  let sent = '';
  await using exporter = new SpanExporter({
    ...{ resource: RESOURCE, onFailure: rethrow },
    async send(request) {
      sent = request;
    },
  });
  exporter.add([span('a')]);
  await exporter.flush();
  const [{ resource, scopeSpans }] = JSON.parse(sent).resourceSpans;
  assert.deepEqual(resource.attributes, [{ key: 'service.name', value: { stringValue: 'test' } }]);
  assert.partialDeepStrictEqual(scopeSpans[0].spans[0], {
    ...{ kind: 1, startTimeUnixNano: '1700000000000250000', endTimeUnixNano: '1700000000001000000' },
    attributes: [{ key: 'n', value: { intValue: '1' } }],
  });
});

test('who takes none loses the oldest, and is told', async () => {
  const failures: string[] = [];
  const sent: number[] = [];
  const exporter = new SpanExporter({
    ...{ resource: RESOURCE, most: 3, onFailure: (error) => failures.push(String(error)) },
    async send(request) {
      sent.push(JSON.parse(request).resourceSpans[0].scopeSpans[0].spans.length);
      throw new Error('nobody there');
    },
  });
  for (const name of 'abcde') exporter.add([span(name)]);
  await exporter[Symbol.asyncDispose]();
  assert.deepEqual(sent, [3]);
  assert.match(failures.join(), /1 spans were lost.*nobody there/);
});

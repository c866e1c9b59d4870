import assert from 'node:assert/strict';
import { test } from 'node:test';
import { traceSettings } from './destinations.ts';

test("OpenTelemetry's variables say where traces go, and who sends them", () => {
  const settings = traceSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x, other=1',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'other=2',
    OTEL_RESOURCE_ATTRIBUTES: 'k8s.node.name=n1,service.name=a',
    OTEL_SERVICE_NAME: 'b',
  });
  assert.equal(settings.url?.href, 'http://collector:4318/v1/traces');
  assert.deepEqual(settings.headers, { authorization: 'Bearer x', other: '2' });
  assert.deepEqual(settings.attributes, { 'k8s.node.name': 'n1', 'service.name': 'b' });
});

test('an endpoint for traces alone is taken as it is; without any, or switched off, there are none', () => {
  const exact = 'https://collector/custom';
  const general = 'http://elsewhere:4318';
  const both = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: exact, OTEL_EXPORTER_OTLP_ENDPOINT: general };
  assert.equal(traceSettings(both).url?.href, exact);
  assert.equal(traceSettings({}).url, undefined);
  assert.equal(traceSettings({}).attributes['service.name'], 'heddle-agent');
  assert.equal(traceSettings({ ...both, OTEL_SDK_DISABLED: 'true' }).url, undefined);
  assert.throws(() => traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }), {
    code: 'AGENT_SETTING',
  });
});

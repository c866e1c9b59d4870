/** Spans as OTLP in JSON: ExportTraceServiceRequest of opentelemetry-proto, in its JSON mapping. */
import type { Span } from './span.ts';

/** Who makes the spans. */
export interface TraceResource {
  readonly version: string;
  /** `service.name` and others, as OTEL_RESOURCE_ATTRIBUTES has them. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** One request with these spans. */
export function otlpRequest(spans: readonly Span[], { version, attributes }: TraceResource): string {
  const scopeSpans = [{ scope: { name: 'heddle', version }, spans: spans.map(otlpSpan) }];
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: keyValues(attributes) }, scopeSpans }] });
}

function otlpSpan({ traceId, spanId, parentSpanId, name, kind, start, end, attributes, error }: Span) {
  return {
    ...{ traceId, spanId, parentSpanId, name, kind: KIND[kind] },
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(end),
    attributes: keyValues(attributes),
    status: error === undefined ? {} : { code: STATUS_ERROR, message: error },
  };
}

function keyValues(attributes: Readonly<Record<string, string | number>>) {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: `${value}` } : { stringValue: value },
  }));
}

/** A double holds these milliseconds to a fraction of a microsecond, but not as nanoseconds. */
function nanoseconds(milliseconds: number): string {
  const whole = Math.floor(milliseconds);
  return `${BigInt(whole) * 1_000_000n + BigInt(Math.round((milliseconds - whole) * 1_000_000))}`;
}

/** Span.SpanKind */
const KIND = { internal: 1, server: 2 } as const;
/** Status.StatusCode */
const STATUS_ERROR = 2;

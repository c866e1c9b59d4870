/** W3C Trace Context, as CNI's runtimes put it into the environment: TRACEPARENT. */

/** A place in a trace. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Whether whoever began the trace records it. */
  readonly sampled: boolean;
}

/**
 * Reads a `traceparent` of any version.
 *
 * @returns undefined for what is none: it is to be ignored then
 */
export function parseTraceparent(text: string): TraceContext | undefined {
  const [, version = '', traceId = '', spanId = '', flags = '', more] = PATTERN.exec(text) ?? [];
  if (traceId === '' || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

/** Writes one of version 00. */
export function formatTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-0${sampled ? SAMPLED : 0}`;
}

const PATTERN = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const SAMPLED = 1;

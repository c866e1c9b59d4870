/** Spans of calls: one for the call, one for each of its steps. */
import { randomBytes } from 'node:crypto';
import type { Handover } from '@heddle/cni/runtime';
import type { ServedCall } from '../events.ts';
import { errorCode } from '../observe/figures.ts';
import { formatTraceparent, parseTraceparent, type TraceContext } from './trace-context.ts';

/** A piece of work in a trace. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: 'server' | 'internal';
  /** Milliseconds since the epoch, with fractions. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Why it failed. */
  readonly error?: string;
}

/** A call that is traced. */
export interface TracedCall {
  /** What the caller was doing. */
  readonly parent: TraceContext;
  /** The call itself. */
  readonly own: TraceContext;
}

/** Whether a call is part of a trace that is recorded, and which. */
export function traceOf({ env }: Handover): TracedCall | undefined {
  const parent = parseTraceparent(env['TRACEPARENT'] ?? '');
  if (parent === undefined || !parent.sampled) return undefined;
  return { parent, own: { ...parent, spanId: newSpanId() } };
}

/** The environment for whatever the call starts itself. */
export function tracedEnvironment(
  env: Readonly<Record<string, string>>,
  { own }: TracedCall,
): Readonly<Record<string, string>> {
  return { ...env, TRACEPARENT: formatTraceparent(own) };
}

/**
 * The spans of a call that has ended.
 *
 * @param epoch when the clock of the steps was 0, in milliseconds since the epoch
 */
export function spansOf(
  { call, outcome, milliseconds, steps, began }: ServedCall & { readonly began: number },
  { parent, own }: TracedCall,
  epoch: number,
): readonly Span[] {
  const { traceId } = own;
  const { type, env } = call;
  const failed = outcome.exitCode !== 0;
  const whole: Span = {
    ...{ traceId, spanId: own.spanId, parentSpanId: parent.spanId, kind: 'server' },
    name: `${env['CNI_COMMAND'] ?? ''} ${type}`,
    ...{ start: epoch + began, end: epoch + began + milliseconds },
    attributes: {
      'cni.command': env['CNI_COMMAND'] ?? '',
      'cni.plugin': type,
      'cni.container_id': env['CNI_CONTAINERID'] ?? '',
      'cni.interface': env['CNI_IFNAME'] ?? '',
      ...(failed && { 'cni.error_code': errorCode(outcome.stdout) }),
    },
    ...(failed && { error: messageIn(outcome.stdout) }),
  };
  const parts = steps.map(
    (step): Span => ({
      ...{ traceId, spanId: newSpanId(), parentSpanId: own.spanId, kind: 'internal' },
      name: step.detail === undefined ? step.name : `${step.name} ${step.detail}`,
      ...{ start: epoch + step.began, end: epoch + step.ended },
      attributes: {},
    }),
  );
  return [whole, ...parts];
}

function newSpanId(): string {
  return randomBytes(8).toString('hex');
}

function messageIn(stdout: string): string {
  try {
    const { msg } = JSON.parse(stdout) as { msg?: unknown };
    return String(msg);
  } catch {
    return stdout;
  }
}

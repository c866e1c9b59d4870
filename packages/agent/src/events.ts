import type { PluginOutcome } from '@heddle/cni/plugin';
import type { Handover } from '@heddle/cni/runtime';
import type { Step } from './observe/steps.ts';

/** A call that was served. */
export interface ServedCall {
  readonly kind: 'served';
  readonly call: Handover;
  readonly outcome: PluginOutcome;
  /** How long it took, from the complete request to the answer. */
  readonly milliseconds: number;
  /** Where that time went. */
  readonly steps: readonly Step[];
}

/** What the agent has to tell of its work. */
export type AgentEvent =
  | ServedCall
  /** A DEL from the queue was tried. */
  | {
      readonly kind: 'replayed';
      readonly call: Handover;
      readonly outcome: PluginOutcome;
      readonly milliseconds: number;
    }
  /** A call was left to the caller. */
  | {
      readonly kind: 'declined';
      readonly call: Handover;
      readonly reason: 'plugin' | 'namespaces';
      readonly why: string;
    }
  /** Something else went wrong; the agent goes on. */
  | {
      readonly kind: 'trouble';
      readonly where: 'client' | 'queue' | 'link' | 'trace' | 'watchdog';
      readonly what: string;
      readonly error: unknown;
    }
  /** Another agent has taken over; this one ends when its calls have ended. */
  | { readonly kind: 'replaced' };

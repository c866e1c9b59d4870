import type { PluginOutcome } from '@heddle/cni/plugin';
import type { Handover } from '@heddle/cni/runtime';

/** What the agent has to tell of its work. */
export type AgentEvent =
  /** A call was served, for a caller or from the queue. */
  | {
      readonly kind: 'served' | 'replayed';
      readonly call: Handover;
      readonly outcome: PluginOutcome;
      readonly milliseconds: number;
    }
  /** A call was left to the caller. */
  | { readonly kind: 'declined'; readonly call: Handover; readonly why: string }
  /** Something else went wrong; the agent goes on. */
  | { readonly kind: 'trouble'; readonly what: string; readonly error: unknown }
  /** Another agent has taken over; this one ends when its calls have ended. */
  | { readonly kind: 'replaced' };

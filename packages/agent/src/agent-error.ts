import { HeddleError } from '@heddle/errors';

/** What went wrong between the agent and a caller, or at the agent's socket. */
export type AgentErrorCode = 'AGENT_CALLER_GONE' | 'AGENT_CLIENT' | 'AGENT_SOCKET' | 'AGENT_ABSENT';

/** A failure of the agent itself, not of a plugin. */
export class AgentError extends HeddleError {
  override readonly code: AgentErrorCode;

  constructor(code: AgentErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}

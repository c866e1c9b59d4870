import { HeddleError } from '@heddle/errors';

/** What went wrong between the agent and a caller, at the agent's sockets, or with what it was told to do. */
export type AgentErrorCode =
  | 'AGENT_CALLER_GONE'
  | 'AGENT_CLIENT'
  | 'AGENT_SOCKET'
  | 'AGENT_ABSENT'
  | 'AGENT_SETTING'
  | 'AGENT_TRACE';

/** A failure of the agent itself, not of a plugin. */
export class AgentError extends HeddleError {
  override readonly code: AgentErrorCode;

  constructor(code: AgentErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}

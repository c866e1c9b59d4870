import { CodedError } from '@heddle/errors';

/** What went wrong between the agent and a caller, at the agent's sockets, or with what it was told to do. */
export type AgentErrorCode =
  | 'AGENT_CALLER_GONE'
  | 'AGENT_CLIENT'
  | 'AGENT_SOCKET'
  | 'AGENT_ABSENT'
  | 'AGENT_SETTING'
  | 'AGENT_TRACE';

/** A failure of the agent itself, not of a plugin. */
export class AgentError extends CodedError<AgentErrorCode> {}

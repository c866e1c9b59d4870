/** The resident process that serves calls of plugins, as a library: the `heddle` command starts it. */
export { Agent, type AgentLimits, type AgentOptions } from './agent.ts';
export { AgentError, type AgentErrorCode } from './agent-error.ts';
export { askStatus } from './ask-status.ts';
export { type Door, handedDoor, ownDoor } from './door.ts';
export type { AgentEvent } from './events.ts';
export { agentPlace, handedDescriptor } from './places.ts';
export type { AgentStatus, CallFigures } from './status.ts';

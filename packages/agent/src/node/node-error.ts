import { CodedError } from '@heddle/errors';

/** What kept a node from being part of a cluster. */
export type NodeErrorCode =
  /** The node's configuration cannot be read, or is not valid. */
  | 'NODE_CONFIG_INVALID'
  /** The node's socket cannot be had. */
  | 'NODE_SOCKET';

/** A failure of the agent's part of a cluster. */
export class NodeError extends CodedError<NodeErrorCode> {}

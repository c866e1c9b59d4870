import { CodedError } from '@heddle/errors';

/** Why a node cannot take part in the cluster's network. */
export type RoutingErrorCode =
  /** Another machine is in the cluster under this name. */
  | 'NODE_NAME_TAKEN'
  /** A name that cannot be a node's. */
  | 'NODE_NAME_INVALID'
  /** The node is in the cluster, so it cannot be removed. */
  | 'NODE_ALIVE'
  /** There is no such node. */
  | 'NODE_UNKNOWN'
  /** There is no address that other nodes could reach this one at. */
  | 'UNDERLAY_MISSING';

/**
 * A node cannot take part in the cluster's network, or not as it was told to.
 *
 * @example
 * try { await joinCluster(options) } catch (error) {
 *   if (RoutingError.is(error, 'NODE_NAME_TAKEN')) …
 * }
 */
export class RoutingError extends CodedError<RoutingErrorCode> {}

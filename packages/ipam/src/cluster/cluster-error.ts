import { CodedError } from '@heddle/errors';

/** Why addresses of the cluster could not be asked for. Refusals of the node carry the codes of what refused there. */
export type ClusterErrorCode =
  /** Nobody gives addresses on this node now. */
  | 'CLUSTER_NODE_ABSENT'
  /** The node does not give addresses yet, or not at the moment. */
  | 'CLUSTER_NODE_NOT_READY'
  /** The caller lives in another network namespace than the node. */
  | 'CLUSTER_ELSEWHERE'
  /** The node has a defect. */
  | 'CLUSTER_NODE_FAILED'
  /** A question or an answer that is none. */
  | 'CLUSTER_PROTOCOL'
  /** What is to be given back later could not be noted, or read. */
  | 'CLUSTER_WAITING';

/** Addresses of the cluster could not be asked for. */
export class ClusterError extends CodedError<ClusterErrorCode> {}

/** What the node refused, in its own words and with its own code. */
export class NodeRefusal extends CodedError<string> {}

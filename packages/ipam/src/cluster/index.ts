/** Addresses of the cluster, as plugins get them: a port, and the client of the node's socket. Free of the store. */
export { clusterClient, type NodePlaces } from './client.ts';
export { ClusterError, type ClusterErrorCode, NodeRefusal } from './cluster-error.ts';
export { NODE_SOCKET, WAITING_DIRECTORY } from './places.ts';
export {
  type AddressRequest,
  type Attachment,
  attachmentHandle,
  attachmentOf,
  type ClusterAddresses,
  type Given,
  type GivenAddress,
  type HeldAddresses,
  type Readiness,
} from './port.ts';
export { LONGEST_QUESTION, ownPlace, questionSchema, type ReadQuestion } from './protocol.ts';
export { WaitingReleases } from './waiting.ts';

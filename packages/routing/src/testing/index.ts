export {
  blockMoves,
  changesOf,
  fillStore,
  type LargeCluster,
  type NodeVariant,
  nodeLeaves,
  podGoes,
} from './large-cluster.ts';
export { hasTunnelsOf, TestCluster, type TestNode, type TestPod } from './test-cluster.ts';

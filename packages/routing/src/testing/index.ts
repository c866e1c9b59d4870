export { changesOf, fillStore, type LargeCluster } from './large-cluster.ts';
export { hasTunnelsOf, TestCluster, type TestNode, type TestPod } from './test-cluster.ts';

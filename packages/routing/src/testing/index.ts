export { changesOf, fillStore, type LargeCluster } from './large-cluster.ts';
export { TestCluster, type TestNode, type TestPod } from './test-cluster.ts';

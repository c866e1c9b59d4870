export { changesOf, fillStore, type LargeCluster } from './large-cluster.ts';

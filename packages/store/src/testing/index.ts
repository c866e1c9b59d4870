export {
  type ClusterOptions,
  EtcdCluster,
  etcdMissing,
  memberAddresses,
  type ServerFiles,
} from './etcd-cluster.ts';
export { MemoryDatabase, type MemoryOptions, type Time } from './memory-database.ts';
export { type Gate, memoryStore, openMemory, type StoreCall } from './memory-store.ts';
export { type Faults, type SimulatedClient, Simulation, type SimulationOptions } from './simulation.ts';

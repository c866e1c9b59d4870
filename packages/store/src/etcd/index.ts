export type { Credentials } from './etcd-client.ts';
export { type EtcdOptions, openEtcd, type TlsOptions } from './etcd-store.ts';

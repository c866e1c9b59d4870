/** The methods of etcd's API that a store calls. */
import {
  anyResponse,
  leaseGrantRequest,
  leaseGrantResponse,
  leaseKeepAliveResponse,
  leaseRequest,
  rangeRequest,
  rangeResponse,
  txnRequest,
  txnResponse,
  watchRequest,
  watchResponse,
} from './messages.ts';

export const RANGE = {
  path: '/etcdserverpb.KV/Range',
  what: 'read',
  request: rangeRequest,
  response: rangeResponse,
  changes: false,
};

export const TXN = {
  path: '/etcdserverpb.KV/Txn',
  what: 'commit',
  request: txnRequest,
  response: txnResponse,
  changes: true,
};

export const WATCH = {
  path: '/etcdserverpb.Watch/Watch',
  what: 'watch',
  request: watchRequest,
  response: watchResponse,
  changes: false,
};

export const GRANT = {
  path: '/etcdserverpb.Lease/LeaseGrant',
  what: 'grant a lease',
  request: leaseGrantRequest,
  response: leaseGrantResponse,
  // Granted twice, one of them just ends.
  changes: false,
};

export const KEEP_ALIVE = {
  path: '/etcdserverpb.Lease/LeaseKeepAlive',
  what: 'keep a lease alive',
  request: leaseRequest,
  response: leaseKeepAliveResponse,
  changes: false,
};

export const REVOKE = {
  path: '/etcdserverpb.Lease/LeaseRevoke',
  what: 'revoke a lease',
  request: leaseRequest,
  response: anyResponse,
  changes: true,
};

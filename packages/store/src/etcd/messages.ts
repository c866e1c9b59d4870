/** The messages of etcd's API, version 3, as far as a store needs them. Names and numbers are those of its rpc.proto. */
import {
  bigint64,
  embedded,
  int64,
  protoBool,
  protoMessage,
  protoText,
  several,
} from '@heddle/wire/protobuf';

const header = protoMessage('ResponseHeader', { revision: [3, int64] });

const keyValue = protoMessage('KeyValue', {
  key: [1, protoText],
  createRevision: [2, int64],
  modRevision: [3, int64],
  value: [5, protoText],
  lease: [6, bigint64],
});

export const rangeRequest = protoMessage('RangeRequest', {
  key: [1, protoText],
  rangeEnd: [2, protoText],
  keysOnly: [8, protoBool],
});

export const rangeResponse = protoMessage('RangeResponse', {
  header: [1, embedded(header)],
  kvs: [2, several(embedded(keyValue))],
});

const putRequest = protoMessage('PutRequest', {
  key: [1, protoText],
  value: [2, protoText],
  lease: [3, bigint64],
});

const deleteRangeRequest = protoMessage('DeleteRangeRequest', { key: [1, protoText] });

/** One of them is given. */
const requestOp = protoMessage('RequestOp', {
  range: [1, embedded(rangeRequest)],
  put: [2, embedded(putRequest)],
  deleteRange: [3, embedded(deleteRangeRequest)],
});

const responseOp = protoMessage('ResponseOp', { range: [1, embedded(rangeResponse)] });

/** Of `Compare.CompareTarget`: the commit that last wrote the key. */
export const COMPARE_MOD = 2;

const compare = protoMessage('Compare', {
  target: [2, int64],
  key: [3, protoText],
  modRevision: [6, int64],
});

export const txnRequest = protoMessage('TxnRequest', {
  compare: [1, several(embedded(compare))],
  success: [2, several(embedded(requestOp))],
  failure: [3, several(embedded(requestOp))],
});

export const txnResponse = protoMessage('TxnResponse', {
  header: [1, embedded(header)],
  succeeded: [2, protoBool],
  responses: [3, several(embedded(responseOp))],
});

const watchCreateRequest = protoMessage('WatchCreateRequest', {
  key: [1, protoText],
  rangeEnd: [2, protoText],
  startRevision: [3, int64],
  fragment: [8, protoBool],
});

export const watchRequest = protoMessage('WatchRequest', { create: [1, embedded(watchCreateRequest)] });

/** Of `Event.EventType`: the key was deleted. */
export const EVENT_DELETE = 1;

const event = protoMessage('Event', { type: [1, int64], kv: [2, embedded(keyValue)] });

export const watchResponse = protoMessage('WatchResponse', {
  canceled: [4, protoBool],
  compactRevision: [5, int64],
  cancelReason: [6, protoText],
  fragment: [7, protoBool],
  events: [11, several(embedded(event))],
});

export const leaseGrantRequest = protoMessage('LeaseGrantRequest', { ttl: [1, int64] });
export const leaseGrantResponse = protoMessage('LeaseGrantResponse', { id: [2, bigint64], ttl: [3, int64] });
export const leaseRequest = protoMessage('LeaseRevokeRequest', { id: [1, bigint64] });
export const leaseKeepAliveResponse = protoMessage('LeaseKeepAliveResponse', { ttl: [3, int64] });
export const authenticateRequest = protoMessage('AuthenticateRequest', {
  name: [1, protoText],
  password: [2, protoText],
});
export const authenticateResponse = protoMessage('AuthenticateResponse', { token: [2, protoText] });
/** A response of which nothing matters but that it came. */
export const anyResponse = protoMessage('Response', {});

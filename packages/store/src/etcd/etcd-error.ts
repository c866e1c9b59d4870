import { StoreError } from '../store-error.ts';
import { type GrpcFailure, STATUS } from './grpc-call.ts';

/** A failed call in the port's terms. @param changes whether the call was to change something */
export function fromGrpc(call: string, endpoint: string, failure: GrpcFailure, changes: boolean): StoreError {
  const { status, message } = failure;
  const text = `${call}: etcd at ${endpoint}: ${message}`;
  const known = { cause: failure };
  if (isRejectedCertificate(failure)) {
    const hint = 'compare the certificates and names on both sides';
    return new StoreError('STORE_UNAUTHORISED', text, { ...known, hint });
  }
  switch (status) {
    case STATUS.UNAUTHENTICATED:
    case STATUS.PERMISSION_DENIED:
      return new StoreError('STORE_UNAUTHORISED', text, known);
    case STATUS.INVALID_ARGUMENT:
    case STATUS.FAILED_PRECONDITION:
      // Whoever sends no or wrong credentials is told so as if the request were malformed.
      return /user name|authentication|auth/.test(message)
        ? new StoreError('STORE_UNAUTHORISED', text, known)
        : new StoreError('STORE_REQUEST_INVALID', text, known);
    case STATUS.RESOURCE_EXHAUSTED:
      return /space/.test(message)
        ? new StoreError('STORE_FULL', text, {
            ...known,
            hint: 'compact and defragment etcd, then disarm its alarm',
          })
        : new StoreError('STORE_UNAVAILABLE', text, known);
    case STATUS.NOT_FOUND:
      return new StoreError('STORE_LEASE_GONE', text, known);
    default:
      return new StoreError('STORE_UNAVAILABLE', text, {
        ...known,
        mayHaveHappened: changes && failure.sent,
      });
  }
}

/** Of OpenSSL and Node.js: a certificate of theirs that we do not accept, or the other way round. */
function isRejectedCertificate({ cause }: GrpcFailure): boolean {
  if (!(cause instanceof Error) || !('code' in cause) || typeof cause.code !== 'string') return false;
  return /CERT|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO|SIGNATURE/.test(cause.code);
}

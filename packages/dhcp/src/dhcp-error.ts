import { CodedError } from '@heddle/errors';

/** Why there is no lease. */
export type DhcpErrorCode =
  /** No server gave a lease in the time that was allowed. */
  | 'DHCP_NO_ANSWER'
  /** A server's answer cannot be used. */
  | 'DHCP_BAD_ANSWER'
  /** The interface, or its namespace, is not there any more. */
  | 'DHCP_INTERFACE_GONE'
  /** The interface cannot speak DHCP. */
  | 'DHCP_INTERFACE_UNFIT'
  /** Saved leases could not be read or written. */
  | 'DHCP_STORE'
  /** The daemon was asked for something that it does not know. */
  | 'DHCP_REQUEST_INVALID'
  /** The daemon could not be reached. */
  | 'DHCP_DAEMON_UNREACHABLE'
  /** Whoever listens on the daemon's socket does not speak its protocol. */
  | 'DHCP_DAEMON_FOREIGN'
  /** The daemon's own answer. */
  | 'DHCP_DAEMON_FAILED'
  /** The daemon was started the wrong way. */
  | 'DHCP_USAGE';

/**
 * A failure to get, keep or give back a lease.
 *
 * @example
 * if (DhcpError.is(error, 'DHCP_INTERFACE_GONE')) forget(lease);
 */
export class DhcpError extends CodedError<DhcpErrorCode> {}

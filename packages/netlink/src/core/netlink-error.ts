import { HeddleError } from '@heddle/errors';
import { errnoName } from '@heddle/sys';

/** What the kernel adds to an error: NETLINK_EXT_ACK — linux/netlink.h, enum nlmsgerr_attrs. */
export interface ExtendedAck {
  /** NLMSGERR_ATTR_MSG: the kernel's own words. */
  readonly message?: string;
  /** NLMSGERR_ATTR_OFFS: where in the request the culprit lies, in bytes from its header. */
  readonly offset?: number;
  /** NLMSGERR_ATTR_MISS_TYPE: the attribute that is missing. */
  readonly missing?: number;
}

/**
 * A request that the kernel refused. The message says what was asked, of which object, the errno and
 * the kernel's own explanation: `add route 10.1.0.0/16 via 10.0.0.1: EEXIST (kernel: File exists …)`.
 */
export class NetlinkError extends HeddleError {
  override readonly code = 'NETLINK';
  /** The errno's name, such as `ENODEV`. */
  readonly errno: string;
  /** The errno, positive. */
  readonly errnum: number;
  /** What was asked, such as `add link eth0`. */
  readonly operation: string;
  /** The kernel's explanation, where it gave one. */
  readonly extAck: ExtendedAck | undefined;

  constructor(operation: string, errnum: number, extAck?: ExtendedAck) {
    const errno = errnoName(errnum);
    super(`${operation}: ${errno}${extAck?.message === undefined ? '' : ` (kernel: ${extAck.message})`}`, {
      details: { operation, errno, errnum, ...(extAck === undefined ? {} : { extAck }) },
    });
    this.operation = operation;
    this.errno = errno;
    this.errnum = errnum;
    this.extAck = extAck;
  }

  /**
   * Whether `error` is the kernel's answer with one of these errnos.
   *
   * @example if (!NetlinkError.is(error, 'ENODEV', 'ENOENT')) throw error;
   */
  static is(error: unknown, ...errnos: readonly string[]): error is NetlinkError {
    return error instanceof NetlinkError && errnos.includes(error.errno);
  }
}

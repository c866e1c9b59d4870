/** Where the daemon is found, for those who need to know no more of it. */

/** Where it listens unless told otherwise; the reference's too. */
export const DEFAULT_SOCKET = '/run/cni/dhcp.sock';

/** The directory below which daemons keep their leases unless told otherwise. */
export const DEFAULT_STATE_DIR = '/var/lib/cni/dhcp';

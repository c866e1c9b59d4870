/** Where a node's agent gives addresses, for those who need to know no more of it. */

/** The socket; for root only. */
export const NODE_SOCKET = '/run/heddle/node.sock';

/** The directory of addresses that are to be given back, and could not be yet. */
export const WAITING_DIRECTORY = '/var/lib/heddle/addresses';

export { NetlinkClient } from './core/client.ts';
export { type ExtendedAck, NetlinkError } from './core/netlink-error.ts';
export type { Transport } from './core/transport.ts';

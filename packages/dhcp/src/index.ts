export { askDaemon } from './ask-daemon.ts';
export type { Lease } from './client/lease.ts';
export type { Random } from './client/ports.ts';
export { DhcpError, type DhcpErrorCode } from './dhcp-error.ts';
export { bootClock } from './kernel/boot-clock.ts';
export type { LeaseOwner } from './leases/owner.ts';
export type { LeasedRoute } from './message/values.ts';
export type { Answer, Question } from './protocol.ts';
export { UnattendedLeases, type UnattendedOptions } from './unattended.ts';

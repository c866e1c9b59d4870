export { Addr } from './addr.ts';
export { AddrError } from './addr-error.ts';
export { AddrRange } from './addr-range.ts';
export { linkLocalFromMac, multicastMac, solicitedNode } from './link-layer.ts';
export { Mac } from './mac.ts';
export { Prefix } from './prefix.ts';

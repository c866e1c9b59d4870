/**
 * What iptables tells its extensions in the kernel: one struct for each, as they are in linux/netfilter/xt_*.h and
 * nf_nat.h. Integers are in host order unless they are ports or addresses of packets; a port of a match is in host order
 * even so. Sizes are rounded up to eight bytes, as XT_ALIGN does.
 */
import { addr4, bytes, type Codec, fixedString, pad, struct, u8, u16, u16be, u32 } from '@heddle/wire';

/** struct xt_comment_info — xt_comment.h */
export const commentInfo = struct('xt_comment_info', { comment: fixedString(256) });

/** struct xt_conntrack_mtinfo3 — xt_conntrack.h; all that is left out here is not looked at without its flag. */
export const conntrackInfo = struct('xt_conntrack_mtinfo3', {
  addresses: bytes(8 * 16),
  expires: bytes(2 * 4),
  l4proto: u16,
  ports: bytes(4 * 2),
  matchFlags: u16,
  invertFlags: u16,
  stateMask: u16,
  statusMask: u16,
  highPorts: bytes(4 * 2),
  align: pad(6),
});

/** struct xt_addrtype_info_v1 — xt_addrtype.h */
export const addrtypeInfo = struct('xt_addrtype_info_v1', { source: u16, dest: u16, flags: u32 });

/** struct xt_multiport_v1 — xt_multiport.h */
export const multiportInfo = struct('xt_multiport_v1', {
  flags: u8,
  count: u8,
  ports: list(u16, 15),
  rangeFlags: bytes(15),
  invert: u8,
});

/** struct xt_tcp — xt_tcpudp.h */
export const tcpInfo = struct('xt_tcp', {
  source: range(),
  dest: range(),
  option: u8,
  flagMask: u8,
  flagCompare: u8,
  invertFlags: u8,
  align: pad(4),
});

/** struct xt_udp — xt_tcpudp.h */
export const udpInfo = struct('xt_udp', { source: range(), dest: range(), invertFlags: u8, align: pad(7) });

/** struct xt_sctp_info — xt_sctp.h; `chunks` is all that is about chunk types. */
export const sctpInfo = struct('xt_sctp_info', {
  dest: range(),
  source: range(),
  chunkMap: bytes(256),
  chunkMatchType: u32,
  chunkFlags: bytes(4 * 3),
  chunkFlagCount: u32,
  flags: u32,
  invertFlags: u32,
  align: pad(4),
});

/** struct xt_mark_mtinfo1 — xt_mark.h */
export const markInfo = struct('xt_mark_mtinfo1', { mark: u32, mask: u32, invert: u8, align: pad(7) });

/** struct xt_mark_tginfo2 — xt_mark.h */
export const setMarkInfo = struct('xt_mark_tginfo2', { mark: u32, mask: u32 });

/** struct nf_nat_ipv4_multi_range_compat with the one range that it ever has — nf_nat.h */
export const natRange4 = struct('nf_nat_ipv4_multi_range_compat', {
  count: u32,
  flags: u32,
  min: addr4,
  max: addr4,
  minPort: u16be,
  maxPort: u16be,
  align: pad(4),
});

/** struct nf_nat_range — nf_nat.h */
export const natRange6 = struct('nf_nat_range', {
  flags: u32,
  min: bytes(16),
  max: bytes(16),
  minPort: u16be,
  maxPort: u16be,
});

/** struct nf_nat_range2 — nf_nat.h; an IPv4 address takes the first four bytes of its sixteen. */
export const natRange = struct('nf_nat_range2', {
  flags: u32,
  min: bytes(16),
  max: bytes(16),
  minPort: u16be,
  maxPort: u16be,
  basePort: u16be,
  align: pad(6),
});

/** `__u16 ports[2]`: the first and the last port of a range. */
function range(): Codec<readonly number[]> {
  return list(u16, 2);
}

/** A C array of known length; what is left out is zero. */
function list(codec: Codec<number>, length: number): Codec<readonly number[]> {
  const size = (codec.size ?? 0) * length;
  return {
    name: `${codec.name}[${length}]`,
    size,
    read: (window, start, end) =>
      Array.from({ length }, (_, at) => codec.read(window, start + (at * size) / length, end)),
    write(writer, values) {
      for (let at = 0; at < length; at++) codec.write(writer, values[at] ?? 0);
    },
  };
}

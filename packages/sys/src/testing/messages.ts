/** Netlink requests as bytes, for tests of a package that does not know what they mean. */

/** RTM_GETLINK dump: header (length 32, type 18, NLM_F_REQUEST|NLM_F_DUMP, seq 1), struct ifinfomsg of zeros. */
export const dumpLinks = hex('20000000 1200 0103 01000000 00000000 00 00 0000 00000000 00000000 00000000');

/** RTM_GETROUTE dump of IPv4: header (length 28, type 26, NLM_F_REQUEST|NLM_F_DUMP), struct rtmsg with AF_INET. */
export const dumpRoutes = hex('1c000000 1a00 0103 01000000 00000000 02 00 00 00 00 00 00 00 00000000');

/** RTM_GETLINK of index 1: header (length 32, type 18, NLM_F_REQUEST), struct ifinfomsg. */
export const getLoopback = hex('20000000 1200 0100 01000000 00000000 00 00 0000 01000000 00000000 00000000');

/** RTM_NEWLINK of index 1 with flags and change mask IFF_UP: header with NLM_F_REQUEST|NLM_F_ACK. */
export const raiseLoopback = hex(
  '20000000 1000 0500 01000000 00000000 00 00 0000 01000000 01000000 01000000',
);

/** A request for link index 2^31-1, which does not exist: header with NLM_F_REQUEST|NLM_F_ACK. */
export const getNoLink = hex('20000000 1200 0500 01000000 00000000 00 00 0000 ffffff7f 00000000 00000000');

/** The same request many times in one buffer: the kernel answers each. */
export function repeat(request: Uint8Array, times: number): Uint8Array {
  const batch = new Uint8Array(request.length * times);
  for (let i = 0; i < times; i++) batch.set(request, i * request.length);
  return batch;
}

/** The request with another sequence number (bytes 8 to 11), which its answer repeats. */
export function numbered(request: Uint8Array, sequence: number): Uint8Array {
  const copy = request.slice();
  new DataView(copy.buffer).setUint32(8, sequence, true);
  return copy;
}

/** The sequence number of a datagram's first message. */
export function sequenceOf(datagram: Uint8Array | undefined): number {
  if (datagram === undefined) throw new RangeError('no datagram');
  return new DataView(datagram.buffer, datagram.byteOffset).getUint32(8, true);
}

/** The type of a datagram's first message: 2 is NLMSG_ERROR, 3 NLMSG_DONE, 16 RTM_NEWLINK. */
export function typeOf(datagram: Uint8Array | undefined): number {
  if (datagram === undefined) throw new RangeError('no datagram');
  return new DataView(datagram.buffer, datagram.byteOffset).getUint16(4, true);
}

function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
}

/** TC_H_*: handles of disciplines and classes — linux/pkt_sched.h */

/** Places where a discipline or a filter is put that have no handle of their own. */
export const TC_H = {
  /** Where a link's packets leave. */
  ROOT: 0xffff_ffff,
  /** Where a link's packets come in: `ingress` and `clsact` sit here. */
  INGRESS: 0xffff_fff1,
  /** Where filters of `clsact` for packets that come in are. */
  MIN_INGRESS: 0xffff_fff2,
  /** Where filters of `clsact` for packets that leave are. */
  MIN_EGRESS: 0xffff_fff3,
} as const;

/**
 * A handle from its two halves.
 *
 * @example tcHandle(1, 0x10) // 1:10
 */
export function tcHandle(major: number, minor = 0): number {
  return ((major << 16) | minor) >>> 0;
}

/** A handle as `tc` writes it, such as `1:10`. */
export function formatHandle(handle: number): string {
  if (handle === TC_H.ROOT) return 'root';
  const minor = handle & 0xffff;
  return `${(handle >>> 16).toString(16)}:${minor === 0 ? '' : minor.toString(16)}`;
}

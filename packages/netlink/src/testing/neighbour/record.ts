import type { Addr } from '@heddle/netaddr';

/** A neighbour of the fake kernel. A change makes another record. */
export interface NeighbourRecord {
  /** Index. */
  readonly link: number;
  readonly address: Addr;
  readonly mac?: Uint8Array;
  /** NUD_* */
  readonly state: number;
  /** NTF_* */
  readonly flags: number;
  readonly protocol?: number;
}

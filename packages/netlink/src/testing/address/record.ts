import type { Addr } from '@heddle/netaddr';
import type { Family } from '../../core/family.ts';

/** An address of a link of the fake kernel. A change makes another record. */
export interface AddressRecord {
  readonly family: Family;
  /** Index. */
  readonly link: number;
  readonly local: Addr;
  /** IFA_ADDRESS: the same, but for the other end of a point-to-point link. */
  readonly address: Addr;
  readonly bits: number;
  readonly broadcast?: Addr;
  readonly scope: number;
  readonly label?: string;
  /** IFA_F_* */
  readonly flags: number;
  readonly protocol?: number;
  /** Of the route to its network; 0 for the default. */
  readonly metric: number;
  /** Seconds. */
  readonly valid: number;
  /** Seconds. */
  readonly preferred: number;
}

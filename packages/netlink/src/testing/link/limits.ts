import { refuse } from '../core/refusal.ts';
import type { Kind } from './kinds.ts';

/** Refuses an MTU that a kind cannot have — dev_validate_mtu in net/core/dev.c */
export function checkMtu({ minMtu, maxMtu }: Kind, mtu: number): void {
  if (mtu < minMtu) refuse('EINVAL', 'mtu less than device minimum');
  if (maxMtu > 0 && mtu > maxMtu) refuse('EINVAL', 'mtu greater than device maximum');
}

/** What a VXLAN puts in front of its frames, in bytes. */
export const VXLAN_HEADERS = 50;

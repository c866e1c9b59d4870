import type { TableRecord } from './records.ts';
import type { Transaction } from './transaction.ts';

/** A message of a batch. */
export interface ChangeRequest {
  /** NLM_F_* */
  readonly flags: number;
  readonly body: Uint8Array;
}

/** Carries one message of a batch out. */
export type Change = (transaction: Transaction, request: ChangeRequest) => void;

/** The low half of a generation's number, as every answer carries it. */
export function resourceOf(generation: number): number {
  return generation & 0xffff;
}

/** A handle that the table never gave out. */
export function nextHandle({ handles }: TableRecord): number {
  handles.last++;
  return handles.last;
}

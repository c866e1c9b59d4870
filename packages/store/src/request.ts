/** What every backend refuses, so that a program which works on one works on all. */

import type { Transaction } from './store.ts';
import { StoreError } from './store-error.ts';

/** The most conditions and the most changes of a transaction: what etcd takes unless told otherwise. */
export const MAX_TRANSACTION = 128;
/** The most bytes of a transaction's values: etcd's limit for a request is half as much again. */
export const MAX_VALUES = 1 << 20;
const MAX_KEY = 512;
/** A year: no lease is meant to last longer, and every backend can count that far. */
const MAX_LEASE = 365 * 24 * 3600;

/** @throws {StoreError} STORE_REQUEST_INVALID */
export function checkKey(key: string): void {
  if (key === '') throw invalid('a key is not empty');
  checkPrefix(key);
}

/** @throws {StoreError} STORE_REQUEST_INVALID */
export function checkPrefix(prefix: string): void {
  if (!/^[\x21-\x7e]*$/.test(prefix)) {
    throw invalid(`key ${JSON.stringify(prefix)}: only visible ASCII characters are allowed`);
  }
  if (prefix.length > MAX_KEY) throw invalid(`key ${prefix}: longer than ${MAX_KEY} characters`);
}

/** @throws {StoreError} STORE_REQUEST_INVALID */
export function checkTransaction({ conditions = [], changes }: Transaction): void {
  for (const list of [conditions, changes]) {
    if (list.length > MAX_TRANSACTION) {
      throw invalid(`a transaction has at most ${MAX_TRANSACTION} conditions and as many changes`);
    }
  }
  for (const { key, revision } of conditions) {
    checkKey(key);
    if (!Number.isSafeInteger(revision) || revision < 0)
      throw invalid(`key ${key}: no revision: ${revision}`);
  }
  const changed = new Set<string>();
  let bytes = 0;
  for (const change of changes) {
    const key = 'put' in change ? change.put : change.delete;
    checkKey(key);
    if (changed.has(key)) throw invalid(`key ${key}: changed twice in one transaction`);
    changed.add(key);
    if ('put' in change) bytes += Buffer.byteLength(change.value);
  }
  if (bytes > MAX_VALUES)
    throw invalid(`a transaction has at most ${MAX_VALUES} bytes of values, not ${bytes}`);
}

/** @throws {StoreError} STORE_REQUEST_INVALID */
export function checkLeaseTime(seconds: number): void {
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > MAX_LEASE) {
    throw invalid(`a lease lasts a whole number of seconds from 1 to ${MAX_LEASE}, not ${seconds}`);
  }
}

/** The first key after all those that begin with the prefix; `undefined` when there is none such. */
export function endOf(prefix: string): string | undefined {
  if (prefix === '') return undefined;
  const last = prefix.length - 1;
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1);
}

function invalid(message: string): StoreError {
  return new StoreError('STORE_REQUEST_INVALID', message);
}

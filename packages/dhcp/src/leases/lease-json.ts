/** Leases as JSON: in files, and between the daemon and those who ask it. */
import { Addr, Mac, Prefix } from '@heddle/netaddr';
import * as v from 'valibot';
import type { Lease } from '../client/lease.ts';

const address = text(Addr.tryParse);
/** The schema of an address with the length of its network's prefix. */
export const prefixSchema = text(Prefix.tryParse);
/** A moment that never comes is `null`. */
const moment = v.pipe(
  v.nullable(v.number()),
  v.transform((value) => value ?? Infinity),
);
const route = v.object({ destination: prefixSchema, router: address });

/**
 * The schema of a lease as `JSON.stringify` writes it, with addresses as text and `null` for a moment that never
 * comes. Its output is the lease.
 */
export const leaseSchema = v.object({
  prefix: prefixSchema,
  server: address,
  serverMac: v.exactOptional(text(Mac.tryParse)),
  renewAt: moment,
  rebindAt: moment,
  expiresAt: moment,
  routers: v.array(address),
  nameServers: v.array(address),
  domain: v.exactOptional(v.string()),
  search: v.array(v.string()),
  staticRoutes: v.array(route),
  classlessRoutes: v.exactOptional(v.array(route)),
}) satisfies v.GenericSchema<unknown, Lease>;

/** The schema of an owner. */
export const ownerSchema = v.object({ network: v.string(), containerID: v.string(), ifName: v.string() });

/** The schema of an option that a user adds: its code, and its bytes in base64. */
export const rawOptionSchema = v.object({
  code: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(254)),
  data: v.pipe(
    v.string(),
    v.base64(),
    v.transform((data) => new Uint8Array(Buffer.from(data, 'base64'))),
  ),
});

/** Bytes as {@link rawOptionSchema} reads them. */
export function bytesToJson(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** The schema of a list of option codes. */
export const codesSchema = v.array(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255)));

function text<T>(parse: (text: string) => T | undefined) {
  return v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const value = parse(dataset.value);
      if (value !== undefined) return value;
      addIssue({ message: `cannot be ${JSON.stringify(dataset.value)}` });
      return NEVER;
    }),
  );
}

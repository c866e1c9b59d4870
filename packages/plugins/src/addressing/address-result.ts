/** The result of an IPAM plugin: addresses, and what the configuration says belongs to them. */
import {
  CURRENT_VERSION,
  type Dns,
  type dnsSchema,
  type IpConfig,
  parseResult,
  type Result,
  type routeSchema,
} from '@heddle/cni';
import type * as v from 'valibot';

/** What the result holds. */
export interface AddressResult {
  readonly ips: readonly IpConfig[];
  /** Routes as configured; duplicates are kept. */
  readonly routes: readonly v.InferOutput<typeof routeSchema>[];
  readonly dns?: Dns | v.InferOutput<typeof dnsSchema> | undefined;
}

/** Makes the result, with every address in canonical text. */
export function addressResult({ ips, routes, dns }: AddressResult): Result {
  const members = { cniVersion: CURRENT_VERSION, ips, routes, ...(dns !== undefined && { dns }) };
  return parseResult(members, { version: CURRENT_VERSION });
}

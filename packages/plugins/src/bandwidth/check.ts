/** CHECK: the limits are in force as configured. */
import type { CheckCall } from '@heddle/cni/plugin';
import { type KernelSession, type Link, TC_H } from '@heddle/netlink';
import { checkLink, type Findings, reportDrift, requirePrevResult } from '../interface/findings.ts';
import { type BandwidthConfig, type Limit, limitsOf } from './config.ts';
import { hostSideOf } from './host-side.ts';
import { findIfb, findReferenceIfb, ifbName } from './ifb.ts';
import { isRedirected } from './redirect.ts';
import { sameBucket, tokenBucket } from './token-bucket.ts';

type Call = CheckCall<BandwidthConfig>;

/** See the file's comment. Limits that the reference's plugin made are as good. */
export async function check(call: Call): Promise<void> {
  const { ingress, egress } = limitsOf(call.config);
  const result = requirePrevResult(call.prevResult);
  if (ingress === undefined && egress === undefined) return;
  const outside = await hostSideOf(call, result);
  reportDrift([
    ...(ingress === undefined ? [] : await checkLimit(call.host, outside, ingress)),
    ...(egress === undefined ? [] : await checkEgress(call, outside, egress)),
  ]);
}

async function checkEgress({ host, attachment }: Call, outside: Link, egress: Limit): Promise<Findings> {
  const ifb = (await findIfb(host, attachment)) ?? (await findReferenceIfb(host, attachment));
  if (ifb === undefined) return [`link ${ifbName(attachment)} is missing`];
  return [
    ...checkLink(ifb.name, ifb, { kind: 'ifb', up: true }),
    ...(await checkLimit(host, ifb, egress)),
    ...(await checkRedirection(host, outside, ifb)),
  ];
}

async function checkLimit(host: KernelSession, { name, index }: Link, limit: Limit): Promise<Findings> {
  const root = (await host.qdiscs.list({ link: index })).find(({ parent }) => parent === TC_H.ROOT);
  if (root?.tbf === undefined)
    return [`${name} has no limit, but should let through ${limit.rate} bits per second`];
  const wanted = tokenBucket(limit);
  if (sameBucket(root.tbf, wanted)) return [];
  const { rate, limit: waiting, buffer } = root.tbf;
  return [
    `the limit of ${name} should be rate ${wanted.rate} limit ${wanted.limit} buffer ${wanted.buffer}, but is rate ${rate} limit ${waiting} buffer ${buffer}`,
  ];
}

async function checkRedirection(host: KernelSession, outside: Link, ifb: Link): Promise<Findings> {
  if (await isRedirected(host, outside.index, ifb.index)) return [];
  return [`what comes in by ${outside.name} should go to ${ifb.name}`];
}

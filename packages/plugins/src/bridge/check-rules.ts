/** The part of CHECK that is about rules: masquerading, and the check of source addresses. */
import type { Result } from '@heddle/cni';
import type { CheckCall } from '@heddle/cni/plugin';
import type { Link } from '@heddle/netlink';
import type { Findings } from '../interface/findings.ts';
import { findingsOf, masqueradeFindings } from '../interface/masquerade.ts';
import { type BridgeConfig, hasIpam } from './config.ts';

type Call = CheckCall<BridgeConfig>;

/** What is different, in words. */
export async function checkRules(call: Call, result: Result, inside: Link | undefined): Promise<Findings> {
  return [
    ...(call.config.ipMasq && hasIpam(call.config) ? await masqueradeFindings(call, result) : []),
    ...(await spoofCheckFindings(call, inside)),
  ];
}

async function spoofCheckFindings(
  { config, host, attachment }: Call,
  inside: Link | undefined,
): Promise<Findings> {
  if (!config.macspoofchk || inside?.parent === undefined || inside.mac === undefined) return [];
  const end = await host.links.find(inside.parent);
  if (end === undefined) return [];
  const { checkSpoofCheck } = await import('../interface/host-rules.ts');
  const spoofing = { hostLink: end.name, mac: inside.mac };
  return findingsOf(() => checkSpoofCheck(host, attachment, spoofing));
}

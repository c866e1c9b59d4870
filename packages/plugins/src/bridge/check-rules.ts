/** The part of CHECK that is about rules: masquerading, and the check of source addresses. */
import { CniError, type Result } from '@heddle/cni';
import type { CheckCall } from '@heddle/cni/plugin';
import { checkMasquerade, checkSpoofCheck } from '@heddle/dataplane';
import { HeddleError } from '@heddle/errors';
import { Prefix } from '@heddle/netaddr';
import type { Link } from '@heddle/netlink';
import type { Findings } from '../interface/findings.ts';
import { type BridgeConfig, hasIpam, type MasqueradeBackend, masqueradeBackend } from './config.ts';

type Call = CheckCall<BridgeConfig>;

/** What is different, in words. */
export async function checkRules(call: Call, result: Result, inside: Link | undefined): Promise<Findings> {
  return [...(await masqueradeFindings(call, result)), ...(await spoofCheckFindings(call, inside))];
}

async function masqueradeFindings({ config, host, attachment }: Call, result: Result): Promise<Findings> {
  if (!config.ipMasq || !hasIpam(config)) return [];
  const prefixes = (result.ips ?? []).map(({ address }) => Prefix.parse(address));
  const check = (backend: MasqueradeBackend) =>
    findingsOf(() => checkMasquerade(host, attachment, prefixes, { backend }));
  const findings = await check(masqueradeBackend(config));
  if (findings.length === 0 || config.ipMasqBackend !== '') return findings;
  // Where nobody chose, the attachment may be the reference's, whose choice is iptables.
  return (await check('iptables')).length === 0 ? [] : findings;
}

async function spoofCheckFindings(
  { config, host, attachment }: Call,
  inside: Link | undefined,
): Promise<Findings> {
  if (!config.macspoofchk || inside?.parent === undefined || inside.mac === undefined) return [];
  const end = await host.links.find(inside.parent);
  if (end === undefined) return [];
  const spoofing = { hostLink: end.name, mac: inside.mac };
  return findingsOf(() => checkSpoofCheck(host, attachment, spoofing));
}

/** A check of another package says what is different by throwing. */
async function findingsOf(run: () => Promise<void>): Promise<Findings> {
  try {
    await run();
    return [];
  } catch (error) {
    if (error instanceof HeddleError) return [error instanceof CniError ? error.msg : error.message];
    throw error;
  }
}

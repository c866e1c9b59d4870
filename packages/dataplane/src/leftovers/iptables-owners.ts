/** Who has chains of the reference's kind in the nat tables: its comments name network and container. */
import type { KernelSession, ListedRule } from '@heddle/netlink';
import { hasLegacyTable } from '../iptables/kind.ts';
import { programsIn } from '../iptables/programs.ts';
import { legacySuffix, saveTable } from '../iptables/restore.ts';
import { ruleTarget } from '../iptables/rule-text.ts';
import { jumpOf } from '../iptables-nft/read-rule.ts';

/** A chain, and whose it is. */
export interface OwnedChain {
  readonly chain: string;
  readonly network: string;
  readonly containerID: string;
}

/**
 * The containers' chains that `referrer` leads to, by the comments of its rules, in both kinds of iptables.
 *
 * @param tables which tables there are, as `tablesOf` gives them
 */
export async function iptablesOwners(
  host: KernelSession,
  tables: ReadonlySet<string>,
  referrer: string,
): Promise<readonly OwnedChain[]> {
  const found = new Map<string, OwnedChain>();
  const note = (chain: string | undefined, comment: string | undefined) => {
    const [, network, containerID] = /name: "([^"]*)" id: "([^"]*)"/.exec(comment ?? '') ?? [];
    if (chain === undefined || network === undefined || containerID === undefined) return;
    found.set(`${chain} ${network} ${containerID}`, { chain, network, containerID });
  };
  for (const family of ['ip', 'ip6'] as const) {
    if (!tables.has(`${family} nat`)) continue;
    const rules = await host.nft.rules({ family, table: 'nat', chain: referrer });
    for (const rule of rules) note(jumpOf(rule), commentOf(rule));
  }
  for (const family of [4, 6] as const) {
    if (!hasLegacyTable(host, family, 'nat')) continue;
    const port = programsIn(host);
    const { rules } = await saveTable(port, { family, table: 'nat' }, legacySuffix(port, family));
    for (const { chain, words } of rules) {
      if (chain === referrer) note(ruleTarget(words), words[words.indexOf('--comment') + 1]);
    }
  }
  return [...found.values()];
}

/** The comment of a rule of iptables-nft: a match of its own, or beside the rule as nft's comments are. */
function commentOf({ comment, expressions }: ListedRule): string | undefined {
  if (comment !== undefined) return comment;
  for (const each of expressions) {
    if (each.expr !== 'match' || each.extension !== 'comment' || each.info === undefined) continue;
    const end = each.info.indexOf(0);
    return new TextDecoder().decode(end < 0 ? each.info : each.info.subarray(0, end));
  }
  return undefined;
}

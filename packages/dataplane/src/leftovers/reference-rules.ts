/**
 * Rules of the reference's nftables backends: how they are told apart, and taken away. Its tables and chains are shared
 * by its containers and stay, as they do when it cleans up itself.
 */
import {
  compile,
  delete_,
  type KernelSession,
  type ListedRule,
  type NftFamily,
  type Statement,
  sameExpressions,
} from '@heddle/netlink';
import { commitPlanned } from '../owned-elements.ts';

/** Where rules are. */
export interface RulePlace {
  readonly family: NftFamily;
  readonly table: string;
  readonly chain?: string;
}

/** A rule that the reference writes. */
export interface ReferenceRule {
  readonly chain: string;
  /** As nft lists it. */
  readonly text: string;
  readonly expressions: readonly Statement[];
}

/** Those rules of a table that are not among the listed ones, each in words. */
export function missingRules(
  { family, table }: RulePlace,
  listed: readonly ListedRule[],
  wanted: readonly ReferenceRule[],
): readonly string[] {
  return wanted
    .filter(({ chain, expressions }) => {
      const compiled = compile(expressions, family);
      return !listed.some((rule) => rule.chain === chain && sameExpressions(rule.expressions, compiled));
    })
    .map(({ chain, text }) => `rule of ${family} ${table} ${chain}: ${text}`);
}

/** Takes away the rules that are chosen. */
export async function removeRules(
  host: KernelSession,
  where: RulePlace,
  isChosen: (rule: ListedRule) => boolean,
): Promise<void> {
  await commitPlanned(host, async () => (await host.nft.rules(where)).filter(isChosen).map(delete_));
}

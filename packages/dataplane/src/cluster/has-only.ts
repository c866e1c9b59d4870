import type { KernelSession, NftChain, NftRule } from '@heddle/netlink';
import { sameRule } from '../same-rule.ts';

/** Whether a chain has these rules, in this order, and no others. */
export async function hasOnly(
  nft: KernelSession['nft'],
  { family, table, name }: NftChain,
  wanted: readonly NftRule[],
): Promise<boolean> {
  const found = await nft.rules({ family, table, chain: name });
  return (
    found.length === wanted.length &&
    wanted.every((rule, at) => {
      const listed = found[at];
      return listed !== undefined && sameRule(listed, rule);
    })
  );
}

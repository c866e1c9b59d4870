import { compile, type KernelSession, type NftChain, type NftRule, sameExpressions } from '@heddle/netlink';

/** Whether a chain has these rules, in this order, and no others. */
export async function hasOnly(
  nft: KernelSession['nft'],
  { family, table, name }: NftChain,
  wanted: readonly NftRule[],
): Promise<boolean> {
  const found = await nft.rules({ family, table, chain: name });
  return (
    found.length === wanted.length &&
    wanted.every(({ expressions }, at) =>
      sameExpressions(found[at]?.expressions ?? [], compile(expressions, family)),
    )
  );
}

import type { KernelSession } from '@heddle/netlink';

/**
 * The tables that exist, as `family name`: one request that saves asking for the contents of those that do not.
 *
 * @example (await tablesOf(host)).has('inet heddle')
 */
export async function tablesOf({ nft }: KernelSession): Promise<ReadonlySet<string>> {
  return new Set((await nft.tables()).map(({ family, name }) => `${family} ${name}`));
}

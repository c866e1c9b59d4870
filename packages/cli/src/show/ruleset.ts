/** What in nftables belongs to an owner, in whichever table: rules and elements whose comment names it. */
import { formatKey, type KernelSession, type ListedElement, type ListedRule } from '@heddle/netlink';

/** See the file's comment. */
export interface OwnedRuleset {
  readonly rules: readonly ListedRule[];
  readonly elements: readonly ListedElement[];
}

/** Looks through all tables. */
export async function ownedRuleset(
  { nft }: KernelSession,
  isOwned: (comment: string) => boolean,
): Promise<OwnedRuleset> {
  const rules: ListedRule[] = [];
  const elements: ListedElement[] = [];
  const keep = ({ comment }: { readonly comment?: string }) => comment !== undefined && isOwned(comment);
  for (const { family, name: table } of await nft.tables()) {
    rules.push(...(await nft.rules({ family, table })).filter(keep));
    for (const { name: set } of await nft.sets({ family, table })) {
      elements.push(...(await nft.elements({ family, table, set })).filter(keep));
    }
  }
  return { rules, elements };
}

/** An element as nft writes it: `tcp . 8080 : 10.1.0.2 . 80`. */
export function elementText({ key, data }: ListedElement): string {
  return data === undefined ? formatKey(key) : `${formatKey(key)} : ${dataText(data)}`;
}

/** The value of an element. */
export function dataText(data: NonNullable<ListedElement['data']>): string {
  if (typeof data !== 'object' || !('kind' in data)) return formatKey(data);
  const target = 'chain' in data ? ` ${data.chain}` : '';
  return `${data.verdict}${target}`;
}

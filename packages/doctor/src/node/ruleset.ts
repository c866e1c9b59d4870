/** The node's nftables, listed by and by: what nobody asks for is not read, and what was read once is kept. */
import type { KernelSession, ListedRule, NftChain, NftTable } from '@heddle/netlink';
import { NetlinkError } from '@heddle/netlink';

/** See the file's comment. */
export class Ruleset {
  readonly #host: KernelSession;
  #tables: Promise<readonly NftTable[]> | undefined;
  readonly #chains = new Map<string, Promise<readonly NftChain[]>>();
  readonly #rules = new Map<string, Promise<readonly ListedRule[]>>();

  constructor(host: KernelSession) {
    this.#host = host;
  }

  /** All tables; none on a kernel without nf_tables, or when they may not be read. */
  tables(): Promise<readonly NftTable[]> {
    this.#tables ??= this.#host.nft.tables().catch((error: unknown) => {
      if (NetlinkError.is(error, 'EPERM', 'EOPNOTSUPP', 'EINVAL', 'ENOENT', 'EPROTONOSUPPORT')) return [];
      throw error;
    });
    return this.#tables;
  }

  /** The chains of a table. */
  chains({ family, name }: Pick<NftTable, 'family' | 'name'>): Promise<readonly NftChain[]> {
    const key = `${family} ${name}`;
    const known = this.#chains.get(key) ?? this.#host.nft.chains({ family, table: name });
    this.#chains.set(key, known);
    return known;
  }

  /** The chains of all tables. */
  async allChains(): Promise<readonly NftChain[]> {
    const lists: NftChain[] = [];
    for (const table of await this.tables()) lists.push(...(await this.chains(table)));
    return lists;
  }

  /** The rules of a chain, in order. */
  rules({
    family,
    table,
    name,
  }: Pick<NftChain, 'family' | 'table' | 'name'>): Promise<readonly ListedRule[]> {
    const key = `${family} ${table} ${name}`;
    const known = this.#rules.get(key) ?? this.#host.nft.rules({ family, table, chain: name });
    this.#rules.set(key, known);
    return known;
  }
}

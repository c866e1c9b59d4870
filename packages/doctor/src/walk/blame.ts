/** Whose a rule is that drops packets, and how to make it let containers through. */
import type { KernelSession, ListedRule, NftChain, NftFamily, NftTrace } from '@heddle/netlink';

/** Somebody who keeps rules on nodes. */
interface Keeper {
  readonly name: string;
  /** Tables, as `inet firewalld`, and chains of theirs. */
  readonly tables?: RegExp;
  readonly chains?: RegExp;
  /** @param link the link towards the containers */
  readonly remedy: (link: string) => string;
}

const KEEPERS: readonly Keeper[] = [
  {
    name: 'firewalld',
    tables: / firewalld$/,
    remedy: (link) =>
      `firewall-cmd --permanent --zone=trusted --add-interface=${link} && firewall-cmd --reload`,
  },
  {
    name: 'ufw',
    chains: /^ufw6?-/,
    remedy: (link) => `ufw route allow in on ${link}, and ufw route allow out on ${link}`,
  },
  {
    name: 'Docker',
    chains: /^DOCKER/,
    remedy: (link) =>
      `iptables -I DOCKER-USER -i ${link} -j ACCEPT, and the same with -o; or "ip-forward-no-drop": true in Docker's daemon.json`,
  },
  {
    name: 'Calico',
    tables: / calico$/,
    chains: /^cali-/,
    remedy: () => 'see the policies that apply to this pod',
  },
  { name: 'Cilium', chains: /^(OLD_)?CILIUM_/, remedy: () => 'see the policies that apply to this pod' },
  {
    name: 'kube-router',
    chains: /^KUBE-(NWPLCY|POD-FW|ROUTER)-/,
    remedy: () => 'see the policies that apply to this pod',
  },
  {
    name: 'kube-proxy',
    tables: / kube-proxy$/,
    chains: /^KUBE-/,
    remedy: () => 'see the log of kube-proxy on this node',
  },
  {
    name: 'Heddle',
    tables: /^(inet|bridge) heddle$/,
    remedy: () => 'see "ingressPolicy" of the firewall plugin in the network',
  },
];

/** Who dropped a packet, in words. */
export interface Blame {
  /** `Docker`, or the chain or table. */
  readonly who: string;
  /** `chain ip filter FORWARD, by its policy`. */
  readonly where: string;
  readonly remedy: string;
}

/**
 * Who is to blame for a step that dropped a packet. A chain that several use (FORWARD of iptables) is told by whose
 * chains are beside it.
 *
 * @param link the link towards the containers
 */
export async function blame(
  { nft }: KernelSession,
  step: Pick<NftTrace, 'family' | 'table' | 'chain' | 'by' | 'rule'>,
  link: string,
): Promise<Blame> {
  const table = `${step.family} ${step.table}`;
  const chains = await nft.chains({ family: step.family, table: step.table });
  const beside = chains.map(({ name }) => name);
  const keeper =
    KEEPERS.find(({ tables, chains }) => tables?.test(table) || chains?.test(step.chain)) ??
    KEEPERS.find(({ chains }) => beside.some((name) => chains?.test(name)));
  const rules = await nft.rules({ family: step.family, table: step.table, chain: step.chain });
  const rule = rules.find(({ handle }) => handle === step.rule);
  const by = step.by === 'policy' ? 'by its policy' : `by rule handle ${step.rule}${commentOf(rule)}`;
  return {
    who:
      keeper?.name ??
      (step.by === 'policy' ? `the policy of chain ${table} ${step.chain}` : `a rule of table ${table}`),
    where: `chain ${table} ${step.chain}, ${by}`,
    remedy:
      keeper?.remedy(link) ??
      acceptance(
        chains.find(({ name }) => name === step.chain),
        link,
      ) ??
      `have chain ${table} ${step.chain} accept what comes from and goes to ${link}`,
  };
}

/** Two rules in front of all others; nothing for a chain where one of them cannot be. */
function acceptance(chain: NftChain | undefined, link: string): string | undefined {
  if (chain === undefined || (chain.base !== undefined && chain.base.hook !== 'forward')) return undefined;
  const program = chain.table === 'filter' ? IPTABLES[chain.family] : undefined;
  return program === undefined
    ? `nft insert rule ${chain.family} ${chain.table} ${chain.name} iifname ${link} accept, and the same with oifname; add both to the file that this table is made of`
    : `${program} -I ${chain.name} -i ${link} -j ACCEPT, and the same with -o`;
}

/** Who makes tables called "filter". */
const IPTABLES: Partial<Record<NftFamily, string>> = { ip: 'iptables', ip6: 'ip6tables' };

function commentOf(rule: ListedRule | undefined): string {
  return rule?.comment === undefined ? '' : ` ("${rule.comment}")`;
}

/** Whose a rule is that drops packets, and how to make it let containers through. */
import type { KernelSession, ListedRule, NftChain, NftFamily, NftTrace } from '@heddle/netlink';
import { commandLine } from '../command-line.ts';

/** Somebody who keeps rules on nodes. */
interface Keeper {
  readonly name: string;
  /** Tables, as `inet firewalld`, and chains of theirs. */
  readonly tables?: RegExp;
  readonly chains?: RegExp;
  readonly remedy: string;
  /** @param link the link towards the containers */
  readonly commands?: (link: string) => readonly string[];
}

const KEEPERS: readonly Keeper[] = [
  {
    name: 'firewalld',
    tables: / firewalld$/,
    remedy: "trust the containers' link",
    commands: (link) => [
      commandLine('firewall-cmd', '--permanent', '--zone=trusted', `--add-interface=${link}`),
      'firewall-cmd --reload',
    ],
  },
  {
    name: 'ufw',
    chains: /^ufw6?-/,
    remedy: "allow what comes from and goes to the containers' link",
    commands: (link) => ['in', 'out'].map((way) => commandLine('ufw', 'route', 'allow', way, 'on', link)),
  },
  {
    name: 'Docker',
    chains: /^DOCKER/,
    remedy:
      'accept what comes from and goes to the containers, which does not outlive a restart; or write "ip-forward-no-drop": true into daemon.json of Docker',
    // The chain for rules of others may not be there.
    commands: (link) => acceptedBy('iptables', 'FORWARD', link),
  },
  {
    name: 'Calico',
    tables: / calico$/,
    chains: /^cali-/,
    remedy: 'see the policies that apply to this pod',
  },
  { name: 'Cilium', chains: /^(OLD_)?CILIUM_/, remedy: 'see the policies that apply to this pod' },
  {
    name: 'kube-router',
    chains: /^KUBE-(NWPLCY|POD-FW|ROUTER)-/,
    remedy: 'see the policies that apply to this pod',
  },
  {
    name: 'kube-proxy',
    tables: / kube-proxy$/,
    chains: /^KUBE-/,
    remedy: 'see the log of kube-proxy on this node',
  },
  {
    name: 'Heddle',
    tables: /^(inet|bridge) heddle$/,
    remedy: 'see "ingressPolicy" of the firewall plugin in the network',
  },
];

/** Who dropped a packet, in words. */
export interface Blame {
  /** `Docker`, or the chain or table. */
  readonly who: string;
  /** `chain ip filter FORWARD, by its policy`. */
  readonly where: string;
  readonly remedy: string;
  readonly commands: readonly string[];
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
    ...(keeper === undefined
      ? acceptance(chains.find(({ name }) => name === step.chain) ?? { ...step, name: step.chain }, link)
      : { remedy: keeper.remedy, commands: keeper.commands?.(link) ?? [] }),
  };
}

/** Two rules in front of all others; none for a chain where one of them cannot be. */
function acceptance(
  { family, table, name, base }: Pick<NftChain, 'family' | 'table' | 'name' | 'base'>,
  link: string,
): Pick<Blame, 'remedy' | 'commands'> {
  const remedy = `have chain ${family} ${table} ${name} accept what comes from and goes to ${link}`;
  if (base !== undefined && base.hook !== 'forward') return { remedy, commands: [] };
  const program = table === 'filter' ? IPTABLES[family] : undefined;
  if (program !== undefined) {
    return {
      remedy: `${remedy}; for it to stay, have whoever keeps the rules of ${program} set the same`,
      commands: acceptedBy(program, name, link),
    };
  }
  return {
    remedy: `${remedy}; for it to stay, add both rules to the file that this table is made of`,
    commands: ['iifname', 'oifname'].map((side) =>
      commandLine('nft', 'insert', 'rule', family, table, name, side, link, 'accept'),
    ),
  };
}

/** The same in the words of iptables. */
export function acceptedBy(program: string, chain: string, link: string): readonly string[] {
  return ['-i', '-o'].map((side) => commandLine(program, '-I', chain, side, link, '-j', 'ACCEPT'));
}

/** Who makes tables called "filter". */
const IPTABLES: Partial<Record<NftFamily, string>> = { ip: 'iptables', ip6: 'ip6tables' };

function commentOf(rule: ListedRule | undefined): string {
  return rule?.comment === undefined ? '' : ` ("${rule.comment}")`;
}

/**
 * The reference's iptables rules for forwarded packets: what pods send and what answers them is accepted, and bridges
 * are kept apart. The same chains, comments and order, so that either can check and remove what the other added.
 *
 * ```
 * FORWARD                -j CNI-ISOLATION-STAGE-1, then -j CNI-FORWARD
 * CNI-FORWARD            -j CNI-ADMIN, then for each address: answers to it, and all that comes from it
 * CNI-ISOLATION-STAGE-1  from an isolated bridge to elsewhere: stage 2; within one, where that is unwanted: dropped
 * CNI-ISOLATION-STAGE-2  to an isolated bridge: dropped
 * ```
 */
import { type Addr, Prefix } from '@heddle/netaddr';
import { joinWords, ruleMeaning, ruleTarget } from '../iptables/rule-text.ts';
import { type IptablesTable, meaningOf, type SavedRule } from '../iptables/table.ts';
import { perObject } from '../per-object.ts';

/** A bridge that is kept apart from other bridges that are. */
export interface Isolation {
  readonly bridge: string;
  /** Whether pods on the bridge may reach each other, as far as netfilter sees what a bridge passes on. */
  readonly within: 'allowed' | 'dropped';
}

/** What should be in the filter table of a family. */
export interface ForwardRules {
  /** Whose packets are accepted. */
  readonly addresses: readonly Addr[];
  /** The operator's chain, which comes first; absent: nothing is accepted here. */
  readonly adminChain?: string;
  readonly isolation?: Isolation;
}

/** The chain of the rules for pods. */
export const FORWARD_CHAIN = 'CNI-FORWARD';

/** The chains that {@link planForwardRules} looks at. */
export function forwardChains({ adminChain }: ForwardRules): readonly string[] {
  return ['FORWARD', FORWARD_CHAIN, STAGE_1, STAGE_2, ...(adminChain === undefined ? [] : [adminChain])];
}

/** The lines that bring a filter table to hold the rules. */
export function planForwardRules(wanted: ForwardRules): (table: IptablesTable) => readonly string[] {
  return (table) => [...planAcceptance(wanted, table), ...planIsolation(wanted, table)];
}

/** The lines that rid a filter table of the rules for addresses. What pods share stays. */
export function planForwardRemoval(addresses: readonly Addr[]): (table: IptablesTable) => readonly string[] {
  const unwanted = new Set(addresses.flatMap(addressRules).map(({ words }) => ruleMeaning(words)));
  return ({ rules }) =>
    rules
      .filter((rule) => rule.chain === FORWARD_CHAIN && unwanted.has(meaningOf(rule)))
      .map(({ text }) => `-D ${FORWARD_CHAIN} ${text}`);
}

/** What a filter table lacks of the rules, each in words; empty when all is there. */
export function missingForwardRules(
  { addresses, adminChain, isolation }: ForwardRules,
  table: IptablesTable,
): readonly string[] {
  const missing = [
    ...(adminChain === undefined
      ? []
      : [entryRule, adminRule(adminChain), ...addresses.flatMap(addressRules)]),
    ...(isolation === undefined ? [] : isolationRules(isolation)),
  ]
    .filter((rule) => !isIn(table, rule))
    .map(({ chain, words }) => `-A ${chain} ${joinWords(words)}`);
  if (isolation === undefined || !isLate(table)) return missing;
  return [...missing, `-I FORWARD 1 -j ${STAGE_1} (it stands behind the jump to ${FORWARD_CHAIN})`];
}

const STAGE_1 = 'CNI-ISOLATION-STAGE-1';
const STAGE_2 = 'CNI-ISOLATION-STAGE-2';
/** Where the rules begin: what FORWARD jumps to. */
export const FIREWALL_ENTRIES: readonly string[] = [STAGE_1, FORWARD_CHAIN];
const COMMENT = 'CNI firewall plugin rules';

interface ChainRule {
  readonly chain: string;
  readonly words: readonly string[];
  /** It goes to the front of its chain, not to the end. */
  readonly first?: true;
}

const entryRule: ChainRule = { chain: 'FORWARD', words: [...comment(COMMENT), '-j', FORWARD_CHAIN] };

function adminRule(adminChain: string): ChainRule {
  const words = [...comment('CNI firewall plugin admin overrides'), '-j', adminChain];
  return { chain: FORWARD_CHAIN, words, first: true };
}

function addressRules(addr: Addr): readonly ChainRule[] {
  const host = String(Prefix.host(addr));
  const answers = ['-m', 'conntrack', '--ctstate', 'RELATED,ESTABLISHED'];
  return [
    { chain: FORWARD_CHAIN, words: ['-d', host, ...answers, '-j', 'ACCEPT'] },
    { chain: FORWARD_CHAIN, words: ['-s', host, '-j', 'ACCEPT'] },
  ];
}

/** In the order in which they are put in: of those that go to the front, the last one ends there. */
function isolationRules({ bridge, within }: Isolation): readonly ChainRule[] {
  const own = comment(`${COMMENT} (ingressPolicy: ${within === 'allowed' ? 'same-bridge' : 'isolated'})`);
  const shared = comment(`${COMMENT} (ingressPolicy: same-bridge|isolated)`);
  const drops: ChainRule = {
    chain: STAGE_1,
    words: ['-i', bridge, '-o', bridge, ...own, '-j', 'DROP'],
    first: true,
  };
  return [
    { chain: 'FORWARD', words: [...shared, '-j', STAGE_1], first: true },
    { chain: STAGE_1, words: ['-i', bridge, '!', '-o', bridge, ...own, '-j', STAGE_2], first: true },
    ...(within === 'dropped' ? [drops] : []),
    { chain: STAGE_1, words: [...shared, '-j', 'RETURN'] },
    { chain: STAGE_2, words: ['-o', bridge, ...shared, '-j', 'DROP'], first: true },
    { chain: STAGE_2, words: [...shared, '-j', 'RETURN'] },
  ];
}

function planAcceptance({ addresses, adminChain }: ForwardRules, table: IptablesTable): readonly string[] {
  if (adminChain === undefined) return [];
  // Behind the isolation, or nobody would ever ask that.
  const entry = `-I FORWARD ${placeOf(table, STAGE_1) + 2} ${joinWords(entryRule.words)}`;
  return [
    ...newChains(table, [FORWARD_CHAIN, adminChain]),
    ...(isIn(table, entryRule) ? [] : [entry]),
    ...missingLines(table, [adminRule(adminChain), ...addresses.flatMap(addressRules)]),
  ];
}

function planIsolation({ isolation }: ForwardRules, table: IptablesTable): readonly string[] {
  if (isolation === undefined) return [];
  const late = isLate(table) ? table.rules.filter(isStage1Entry) : [];
  const rest = { ...table, rules: table.rules.filter((rule) => !late.includes(rule)) };
  return [
    ...newChains(table, [STAGE_1, STAGE_2]),
    ...late.map(({ text }) => `-D FORWARD ${text}`),
    ...missingLines(rest, isolationRules(isolation)),
    ...(isolation.within === 'dropped' ? [] : obsoleteDrops(table, isolation)),
  ];
}

/** What the bridge's network left when it had the stricter policy. */
function obsoleteDrops({ rules }: IptablesTable, { bridge }: Isolation): readonly string[] {
  const unwanted = bareMeaning(['-i', bridge, '-o', bridge, '-j', 'DROP']);
  return rules
    .filter((rule) => rule.chain === STAGE_1 && isOurs(rule.words) && bareMeaningOf(rule) === unwanted)
    .map(({ text }) => `-D ${STAGE_1} ${text}`);
}

function newChains(table: IptablesTable, chains: readonly string[]): readonly string[] {
  return chains.filter((chain) => !table.chains.has(chain)).map((chain) => `-N ${chain}`);
}

function missingLines(table: IptablesTable, rules: readonly ChainRule[]): readonly string[] {
  return rules
    .filter((rule) => !isIn(table, rule))
    .map(({ chain, words, first }) => `${first ? `-I ${chain} 1` : `-A ${chain}`} ${joinWords(words)}`);
}

function isIn({ rules }: IptablesTable, { chain, words }: ChainRule): boolean {
  const meaning = bareMeaning(words);
  return rules.some(
    (rule) => rule.chain === chain && isOurs(rule.words) === isOurs(words) && bareMeaningOf(rule) === meaning,
  );
}

/** What a rule says without its comment: releases of the reference disagree about those of the isolation. */
function bareMeaning(words: readonly string[]): string {
  const at = words.indexOf('--comment');
  return ruleMeaning(at < 0 ? words : words.toSpliced(at, 2));
}

const bareMeaningOf = perObject(({ words }: SavedRule) => bareMeaning(words));

function isOurs(words: readonly string[]): boolean {
  return words[words.indexOf('--comment') + 1]?.startsWith('CNI firewall plugin ') === true;
}

/** Whether packets are accepted before anybody asks whether they may go from bridge to bridge. */
function isLate(table: IptablesTable): boolean {
  const accepted = placeOf(table, FORWARD_CHAIN);
  return accepted >= 0 && placeOf(table, STAGE_1) > accepted;
}

function isStage1Entry({ chain, words }: SavedRule): boolean {
  return chain === 'FORWARD' && ruleTarget(words) === STAGE_1;
}

/** How many rules stand before the jump from FORWARD to a chain; -1 where there is none. */
function placeOf({ rules }: IptablesTable, chain: string): number {
  const forward = rules.filter((rule) => rule.chain === 'FORWARD');
  return forward.findIndex(({ words }) => ruleTarget(words) === chain);
}

function comment(text: string): readonly string[] {
  return ['-m', 'comment', '--comment', text];
}

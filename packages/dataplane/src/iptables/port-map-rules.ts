/**
 * The reference's iptables rules for published ports: the same chains, rules and order, so that either can check and
 * remove what the other added.
 *
 * Unlike the reference, a chain is written in one piece: a repeated ADD replaces the container's rules instead of
 * adding to them, and nobody ever sees half of them.
 */
import type { AttachmentId } from '@heddle/cni';
import { type Prefix, Prefix as PrefixOf } from '@heddle/netaddr';
import { PACKET_MARKS } from '../numbers.ts';
import { boundTo, mappingsOf, type PortMaps, PROTOCOLS } from '../port-mapping.ts';
import { cutComment, legacySnatChain, ownerWords, portMapChain, SHARED_CHAIN } from './chain-names.ts';
import { joinWords, ruleMeaning, ruleTarget } from './rule-text.ts';
import { type IptablesTable, meaningOf, type SavedRule, type TableView } from './table.ts';

/** What only the iptables backend can be told. */
export interface IptablesPortMapOptions {
  /** The packet mark by which masquerading is asked for; a single bit. */
  readonly mark?: number;
  /** A chain of someone else's to jump to in place of marking; whoever has it masquerades as well. */
  readonly setMarkChain?: string;
}

type Words = readonly string[];

/** The lines that bring a nat table to hold `maps` for its owner. */
export function planPortMaps(
  owner: AttachmentId,
  target: Prefix,
  maps: PortMaps,
  options: IptablesPortMapOptions = {},
): (table: IptablesTable) => readonly string[] {
  return (table) => {
    const isStale = staleChains(table, target, portMapChain(owner)).length > 0;
    if (!isStale && missingPortMapRules(table, owner, target, maps, options).length === 0) return [];
    const chain = portMapChain(owner);
    return [
      ...staleChains(table, target, chain).flatMap((stale) => removal(table, stale, SHARED_CHAIN.dnat)),
      ...sharedStructure(table, maps, options),
      // Naming a chain with a colon makes it, or empties it.
      `:${chain} - [0:0]`,
      ...containerRules(target, maps, options).map((words) => `-A ${chain} ${joinWords(words)}`),
      ...entriesTo(table, chain, SHARED_CHAIN.dnat).map(({ text }) => `-D ${SHARED_CHAIN.dnat} ${text}`),
      ...entryRules(owner, target, maps).map((words) => `-A ${SHARED_CHAIN.dnat} ${joinWords(words)}`),
    ];
  };
}

/** What the plans for an owner look at: the shared chains, and those of containers. */
export function portMapView(owner: AttachmentId): Pick<TableView, 'chains' | 'follow'> {
  const { dnat, setMark, masquerade } = SHARED_CHAIN;
  return {
    chains: ['PREROUTING', 'OUTPUT', 'POSTROUTING', dnat, setMark, masquerade, portMapChain(owner)],
    follow: (chain) => chain.startsWith('CNI-DN-'),
  };
}

/** The lines that rid a nat table of a container's port maps, those of old releases included. Shared chains stay. */
export function planPortMapRemoval(owner: AttachmentId): (table: IptablesTable) => readonly string[] {
  return (table) => [
    ...removal(table, portMapChain(owner), SHARED_CHAIN.dnat),
    ...removal(table, legacySnatChain(owner), SHARED_CHAIN.legacySnat),
  ];
}

/** What a nat table lacks of a container's port maps, each rule in words; empty when all is there. */
export function missingPortMapRules(
  table: IptablesTable,
  owner: AttachmentId,
  target: Prefix,
  maps: PortMaps,
  options: IptablesPortMapOptions = {},
): readonly string[] {
  const chain = portMapChain(owner);
  const wanted = [
    ...sharedRules(maps, options),
    ...containerRules(target, maps, options).map((words) => ({ chain, words })),
    ...entryRules(owner, target, maps).map((words) => ({ chain: SHARED_CHAIN.dnat, words })),
  ];
  const present = new Set(table.rules.map((rule) => `${rule.chain} ${meaningOf(rule)}`));
  return wanted
    .filter(({ chain, words }) => !present.has(`${chain} ${ruleMeaning(words)}`))
    .map(({ chain, words }) => `-A ${chain} ${joinWords(words)}`);
}

const LOCAL_DESTINATION: Words = ['-m', 'addrtype', '--dst-type', 'LOCAL', '-j', SHARED_CHAIN.dnat];
/** The most ports that one multiport match takes (XT_MULTI_PORTS). */
const PORTS_PER_RULE = 15;

/** The rules that all port maps share. */
function sharedRules(maps: PortMaps, options: IptablesPortMapOptions): { chain: string; words: Words }[] {
  const rules = [
    { chain: 'PREROUTING', words: LOCAL_DESTINATION },
    { chain: 'OUTPUT', words: LOCAL_DESTINATION },
  ];
  if (!maps.snat || options.setMarkChain !== undefined) return rules;
  const mark = markWords(options);
  return [
    ...rules,
    {
      chain: SHARED_CHAIN.setMark,
      words: [...comment('CNI portfwd masquerade mark'), '-j', 'MARK', '--set-xmark', mark],
    },
    { chain: SHARED_CHAIN.masquerade, words: ['-m', 'mark', '--mark', mark, '-j', 'MASQUERADE'] },
    {
      chain: 'POSTROUTING',
      words: [...comment('CNI portfwd requiring masquerade'), '-j', SHARED_CHAIN.masquerade],
    },
  ];
}

/** The lines for what is missing of the shared rules. Several may race here: `-N` of a chain that exists fails all. */
function sharedStructure(
  table: IptablesTable,
  maps: PortMaps,
  options: IptablesPortMapOptions,
): readonly string[] {
  const rules = sharedRules(maps, options);
  const own = [SHARED_CHAIN.dnat, ...rules.map(({ chain }) => chain)].filter((chain) =>
    chain.startsWith('CNI-'),
  );
  const present = new Set(table.rules.map((rule) => `${rule.chain} ${meaningOf(rule)}`));
  return [
    ...new Set(own.filter((chain) => !table.chains.has(chain)).map((chain) => `-N ${chain}`)),
    ...rules
      .filter(({ chain, words }) => !present.has(`${chain} ${ruleMeaning(words)}`))
      // Ahead of what others masquerade, or a packet would leave the chain before its mark is looked at.
      .map(
        ({ chain, words }) =>
          `${chain === 'POSTROUTING' ? '-I POSTROUTING 1' : `-A ${chain}`} ${joinWords(words)}`,
      ),
  ];
}

function containerRules(target: Prefix, maps: PortMaps, options: IptablesPortMapOptions): readonly Words[] {
  const { family, addr } = target;
  const mark: Words = ['-j', options.setMarkChain ?? SHARED_CHAIN.setMark];
  const everyone = String(family === 4 ? PrefixOf.DEFAULT4 : PrefixOf.DEFAULT6);
  return mappingsOf(family, maps.mappings).flatMap((mapping) => {
    const { protocol, hostPort, containerPort } = mapping;
    const bound = boundTo(mapping);
    const base: Words = [
      ...['-p', protocol, '-m', protocol, '--dport', String(hostPort)],
      ...(bound === undefined ? [] : ['-d', String(bound)]),
    ];
    const from = (source: string): Words => [...base, '-s', source, ...mark];
    const destination = `${family === 6 ? `[${addr}]` : addr}:${containerPort}`;
    return [
      ...(maps.snat ? [from(maps.masqAll ? everyone : String(target))] : []),
      ...(maps.snat && family === 4 && !maps.masqAll ? [from('127.0.0.1')] : []),
      [...base, '-j', 'DNAT', '--to-destination', destination],
    ];
  });
}

/** The rules that lead to the container's chain. They name every port, that of the other family's mappings too. */
function entryRules(owner: AttachmentId, target: Prefix, maps: PortMaps): readonly Words[] {
  const conditions = maps.conditions?.[target.family] ?? [];
  return [...PROTOCOLS].sort().flatMap((protocol) => {
    const all = maps.mappings.filter((mapping) => mapping.protocol === protocol);
    const ports = [...new Set(all.map(({ hostPort }) => hostPort))];
    return chunks(ports, PORTS_PER_RULE).map((some) => [
      ...['-p', protocol],
      ...comment(cutComment(`dnat ${ownerWords(owner)}`)),
      ...['-m', 'multiport', '--destination-ports', some.join(',')],
      ...conditions,
      ...['-j', portMapChain(owner)],
    ]);
  });
}

function removal(table: IptablesTable, chain: string, shared: string): readonly string[] {
  return [
    ...entriesTo(table, chain, shared).map(({ text }) => `-D ${shared} ${text}`),
    ...(table.chains.has(chain) ? [`-F ${chain}`, `-X ${chain}`] : []),
  ];
}

/** Chains of other containers that lead to this one's address: it was theirs, and they are gone. */
function staleChains(table: IptablesTable, { family, addr }: Prefix, own: string): readonly string[] {
  const start = `${family === 6 ? `[${addr}]` : addr}:`;
  const chains = table.rules
    .filter(({ chain }) => chain !== own && chain.startsWith('CNI-DN-'))
    .filter(({ words }) => words[words.indexOf('--to-destination') + 1]?.startsWith(start));
  return [...new Set(chains.map(({ chain }) => chain))];
}

function entriesTo(table: IptablesTable, chain: string, shared: string): readonly SavedRule[] {
  return table.rules.filter((rule) => rule.chain === shared && ruleTarget(rule.words) === chain);
}

function comment(text: string): Words {
  return ['-m', 'comment', '--comment', text];
}

function markWords({ mark = PACKET_MARKS.portMapMasquerade }: IptablesPortMapOptions): string {
  const hex = `0x${(mark >>> 0).toString(16)}`;
  return `${hex}/${hex}`;
}

function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, n) =>
    list.slice(n * size, (n + 1) * size),
  );
}

/** The reference's iptables rules for masquerading what a container sends beyond its own network. */
import type { AttachmentId } from '@heddle/cni';
import { Prefix } from '@heddle/netaddr';
import { cutComment, masqueradeChain, ownerWords } from './chain-names.ts';
import { joinWords, ruleMeaning, ruleTarget } from './rule-text.ts';
import { type IptablesTable, meaningOf } from './table.ts';

/** The lines that bring a nat table to masquerade for the owner's addresses, all of the table's family. */
export function planMasquerade(
  owner: AttachmentId,
  addresses: readonly Prefix[],
): (table: IptablesTable) => readonly string[] {
  return (table) => {
    if (missingMasqueradeRules(table, owner, addresses).length === 0) return [];
    const chain = masqueradeChain(owner);
    return [
      // Naming a chain with a colon makes it, or empties it.
      `:${chain} - [0:0]`,
      ...chainRules(owner, addresses).map((words) => `-A ${chain} ${joinWords(words)}`),
      ...entries(table, owner),
      ...entryRules(owner, addresses).map((words) => `-A POSTROUTING ${joinWords(words)}`),
    ];
  };
}

/** The lines that rid a nat table of an owner's masquerade, whatever its addresses were and however old it is. */
export function planMasqueradeRemoval(owner: AttachmentId): (table: IptablesTable) => readonly string[] {
  return (table) => {
    const chain = masqueradeChain(owner);
    return [...entries(table, owner), ...(table.chains.has(chain) ? [`-F ${chain}`, `-X ${chain}`] : [])];
  };
}

/** What a nat table lacks of an owner's masquerade, each rule in words; empty when all is there. */
export function missingMasqueradeRules(
  table: IptablesTable,
  owner: AttachmentId,
  addresses: readonly Prefix[],
): readonly string[] {
  const chain = masqueradeChain(owner);
  const present = new Set(table.rules.map((rule) => `${rule.chain} ${meaningOf(rule)}`));
  return [
    ...chainRules(owner, addresses).map((words) => ({ chain, words })),
    ...entryRules(owner, addresses).map((words) => ({ chain: 'POSTROUTING', words })),
  ]
    .filter(({ chain, words }) => !present.has(`${chain} ${ruleMeaning(words)}`))
    .map(({ chain, words }) => `-A ${chain} ${joinWords(words)}`);
}

function chainRules(owner: AttachmentId, addresses: readonly Prefix[]): readonly (readonly string[])[] {
  const networks = [...new Set(addresses.map((address) => String(address.masked())))];
  const [first] = addresses;
  if (first === undefined) return [];
  const multicast = first.family === 4 ? '224.0.0.0/4' : 'ff00::/8';
  return [
    ...networks.map((network) => ['-d', network, ...comment(owner), '-j', 'ACCEPT']),
    ['!', '-d', multicast, ...comment(owner), '-j', 'MASQUERADE'],
  ];
}

function entryRules(owner: AttachmentId, addresses: readonly Prefix[]): readonly (readonly string[])[] {
  return addresses.map(({ addr }) => {
    return ['-s', String(Prefix.host(addr)), ...comment(owner), '-j', masqueradeChain(owner)];
  });
}

function entries(table: IptablesTable, owner: AttachmentId): readonly string[] {
  return table.rules
    .filter((rule) => rule.chain === 'POSTROUTING' && ruleTarget(rule.words) === masqueradeChain(owner))
    .map(({ text }) => `-D POSTROUTING ${text}`);
}

function comment(owner: AttachmentId): readonly string[] {
  return ['-m', 'comment', '--comment', cutComment(ownerWords(owner))];
}

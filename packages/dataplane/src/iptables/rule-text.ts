/**
 * Rules as `iptables-save` prints and `iptables-restore` reads them: words, quoted where needed.
 *
 * The two are compared by meaning, not by letter: releases of iptables differ in how they spell the same rule
 * (`-p 6`, `--dports` for `--destination-ports`, `/32` left out).
 * Source: iptables/xshared.c (add_param_to_argv) and the save functions of its extensions.
 */

import { ConfigError } from '@heddle/cni';
import { Addr, Prefix } from '@heddle/netaddr';

/** Splits a line into words, as iptables-restore does: double quotes hold a word together, `\` takes one character. */
export function splitWords(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quoted = false;
  for (let at = 0; at < line.length; at++) {
    const char = line[at] as string;
    if (quoted && char === '\\' && at + 1 < line.length) word = `${word ?? ''}${line[++at]}`;
    else if (char === '"') {
      quoted = !quoted;
      word ??= '';
    } else if (!quoted && (char === ' ' || char === '\t')) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ''}${char}`;
  }
  if (word !== undefined) words.push(word);
  return words;
}

/**
 * Joins words to a line that splits into the same words.
 *
 * @throws {ConfigError} for a word that no line can hold: one with a line break or a zero character.
 */
export function joinWords(words: readonly string[]): string {
  return words.map(quote).join(' ');
}

/**
 * What a rule says, in one spelling and without regard to order: equal for equal rules. A negation stays with what
 * it negates.
 *
 * @example ruleMeaning(['-d', '10.0.0.1', '-p', '6', '-j', 'X']) === ruleMeaning(['-p', 'tcp', '-d', '10.0.0.1/32', '-j', 'X'])
 */
export function ruleMeaning(words: readonly string[]): string {
  const parts: string[] = [];
  let negated = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (word === '!') {
      negated = true;
      continue;
    }
    const option = OPTION_SPELLINGS[word] ?? word;
    const values: string[] = [];
    while (at + 1 < words.length && !isOption(words[at + 1] as string)) values.push(words[++at] as string);
    // Naming a match (`-m tcp`) adds nothing to the option that needs it, and `-s 0.0.0.0/0` says nothing at all.
    if (option !== '-m' && !values.some((value) => isEverywhere(option, value))) {
      parts.push([negated ? '!' : '', option, ...values.map((value) => plainValue(option, value))].join(' '));
    }
    negated = false;
  }
  return parts.sort().join('\n');
}

/** The chain that a rule jumps or goes to, or the target's name. */
export function ruleTarget(words: readonly string[]): string | undefined {
  const at = words.findLastIndex((word) => word === '-j' || word === '-g');
  return at < 0 ? undefined : words[at + 1];
}

const OPTION_SPELLINGS: Readonly<Record<string, string>> = {
  '--destination-ports': '--dports',
  '--destination-port': '--dport',
  '--source': '-s',
  '--destination': '-d',
  '--protocol': '-p',
  '--jump': '-j',
  '--match': '-m',
};
const PROTOCOLS: Readonly<Record<string, string>> = { '6': 'tcp', '17': 'udp', '132': 'sctp' };

function isOption(word: string): boolean {
  return word === '!' || /^--?[a-z]/i.test(word);
}

function isEverywhere(option: string, value: string): boolean {
  return (option === '-s' || option === '-d') && Prefix.tryParse(value)?.bits === 0;
}

function plainValue(option: string, value: string): string {
  if (option === '-p') return PROTOCOLS[value] ?? value;
  if (option !== '-s' && option !== '-d') return value;
  const addr = Addr.tryParse(value);
  return String(addr === undefined ? (Prefix.tryParse(value)?.masked() ?? value) : Prefix.host(addr));
}

function quote(word: string): string {
  if (/[\n\r\0]/.test(word))
    throw new ConfigError(`a rule cannot hold a line break: ${JSON.stringify(word)}`);
  if (/^[\w./:,=@![\]-]+$/.test(word)) return word;
  return `"${word.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** Whether rules may be where packets come to them — nft_chain_validate in net/netfilter/nf_tables_api.c */
import type { Expression } from '../../nft/codec/expressions.ts';
import { refuse } from '../core/refusal.ts';
import { hookOf } from './find-chain.ts';
import type { ChainRecord, TableRecord } from './records.ts';
import { jumpOf, jumpOfElement, setOf } from './references.ts';

/** Follows packets from every base chain. Chains that none reaches may hold anything. */
export function checkReachable(table: TableRecord): void {
  for (const chain of table.chains.values()) {
    if (chain.attributes.hook !== undefined) walk(table, chain, chain, 0);
  }
}

/** NFT_JUMP_STACK_SIZE */
const DEPTH = 16;

function walk(table: TableRecord, base: ChainRecord, chain: ChainRecord, depth: number): void {
  if (depth === DEPTH) refuse('EMLINK');
  for (const { expressions } of chain.rules) {
    for (const expression of expressions) {
      checkPlace(table, base, expression);
      for (const name of targets(table, expression)) {
        const next = table.chains.get(name);
        if (next !== undefined) walk(table, base, next, depth + 1);
      }
    }
  }
}

/** The chains that an expression may lead to. */
function targets(table: TableRecord, expression: Expression): ReadonlySet<string> {
  const own = jumpOf(expression);
  if (own !== undefined) return new Set([own]);
  const name = setOf(expression);
  const set = name === undefined ? undefined : table.sets.get(name);
  const found = new Set<string>();
  if (set?.attributes.dataType !== VERDICT) return found;
  for (const element of set.elements.values()) {
    const to = jumpOfElement(element);
    if (to !== undefined) found.add(to);
  }
  return found;
}

/** NFT_DATA_VERDICT */
const VERDICT = 0xffff_ff00;

/** Address translation is done in chains of that type, each kind at hooks of its own. */
function checkPlace(table: TableRecord, { attributes }: ChainRecord, expression: Expression): void {
  const hooks = hooksOf(expression);
  if (hooks === undefined) return;
  const isTranslation = expression.expr !== 'reject';
  if (isTranslation && attributes.type !== 'nat') refuse('EOPNOTSUPP');
  const hook = hookOf(table, attributes);
  if (hook === undefined || !hooks.includes(hook)) refuse('EOPNOTSUPP');
}

function hooksOf(expression: Expression): readonly string[] | undefined {
  switch (expression.expr) {
    case 'masq':
      return ['postrouting'];
    case 'redir':
      return ['prerouting', 'output'];
    case 'nat':
      return expression.type === 'dnat' ? ['prerouting', 'output'] : ['postrouting', 'input'];
    case 'reject':
      return ['prerouting', 'input', 'forward', 'output', 'ingress'];
    default:
      return undefined;
  }
}

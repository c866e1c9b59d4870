/** What refers to what within a table: while something does, it cannot be deleted. */
import type { Expression } from '../../nft/codec/expressions.ts';
import type { ElementRecord, RuleRecord, TableRecord } from './records.ts';

/** The chain that an expression jumps to. */
export function jumpOf(expression: Expression): string | undefined {
  return expression.expr === 'immediate' ? expression.data?.verdict?.chain : undefined;
}

/** The chain that an element of a verdict map leads to. */
export function jumpOfElement({ data }: ElementRecord): string | undefined {
  return data?.verdict?.chain;
}

/** The set that an expression looks into. */
export function setOf(expression: Expression): string | undefined {
  if (expression.expr === 'lookup' || expression.expr === 'dynset') return expression.set;
  return expression.expr === 'objref' ? expression.set : undefined;
}

/** Whether a chain is jumped to, from rules, its own included, or from elements. */
export function isChainUsed(table: TableRecord, name: string): boolean {
  for (const chain of table.chains.values()) {
    if (uses(chain.rules, (each) => jumpOf(each) === name)) return true;
  }
  for (const set of table.sets.values()) {
    if (set.attributes.dataType !== VERDICT) continue;
    for (const element of set.elements.values()) if (jumpOfElement(element) === name) return true;
  }
  return false;
}

/** Whether a rule looks into a set. */
export function isSetUsed(table: TableRecord, name: string): boolean {
  return [...table.chains.values()].some(({ rules }) => uses(rules, (each) => setOf(each) === name));
}

/** Whether a rule or an element refers to a named object. */
export function isObjectUsed(table: TableRecord, name: string): boolean {
  for (const { rules } of table.chains.values()) {
    if (uses(rules, (each) => each.expr === 'objref' && each.object === name)) return true;
  }
  for (const { elements } of table.sets.values()) {
    for (const { object } of elements.values()) if (object === name) return true;
  }
  return false;
}

/** NFT_DATA_VERDICT */
const VERDICT = 0xffff_ff00;

function uses(rules: readonly RuleRecord[], does: (expression: Expression) => boolean): boolean {
  return rules.some(({ expressions }) => expressions.some(does));
}

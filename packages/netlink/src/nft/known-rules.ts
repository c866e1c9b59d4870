import type { NftChange } from './changes.ts';
import type { ListedRule, NftRule } from './model.ts';

/**
 * The rules of a chain after a change of one of them; `undefined` when that cannot be told.
 *
 * @param made the rule that the change has added, as the kernel has it
 */
export function withRuleChange(
  rules: readonly ListedRule[],
  { op, object }: NftChange,
  made: ListedRule | undefined,
): readonly ListedRule[] | undefined {
  const { handle, position } = object as NftRule;
  const at = rules.findIndex((each) => each.handle === (op === 'add' || op === 'insert' ? position : handle));
  switch (op) {
    case 'add':
    case 'create':
      if (made === undefined) return undefined;
      if (position === undefined) return [...rules, made];
      return at < 0 ? undefined : rules.toSpliced(at + 1, 0, made);
    case 'insert':
      if (made === undefined) return undefined;
      if (position === undefined) return [made, ...rules];
      return at < 0 ? undefined : rules.toSpliced(at, 0, made);
    case 'delete':
      return at < 0 ? undefined : rules.toSpliced(at, 1);
    default:
      return undefined;
  }
}

/** What `heddle audit rules` prints. */

import { closest } from '@heddle/cni';
import { AUDIT_RULES, type Rule } from '@heddle/doctor';
import type { Cli, CommonFlags } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { emit } from '../output/emit.ts';
import { CommandError } from '../output/report-error.ts';
import { formatTable } from '../output/table.ts';
import { wrap } from '../output/wrap.ts';

/**
 * Lists the rules, or explains those with these ids.
 *
 * @throws {CommandError} for an id that there is not
 */
export function printRules(cli: Cli, flags: CommonFlags, ids: readonly string[]): void {
  const rules = ids.length === 0 ? AUDIT_RULES : ids.map(ruleNamed);
  emit(
    cli,
    flags,
    () => ({
      rules: rules.map(({ id, title, severity, fixable = false, explains }) => ({
        ...{ id, title, severity, fixable, explains },
      })),
    }),
    (styled) =>
      ids.length === 0 ? listText(rules, styled) : rules.map((rule) => ruleText(rule, cli)).join('\n'),
  );
}

function ruleNamed(id: string): Rule {
  const rule = AUDIT_RULES.find((each) => each.id === id);
  if (rule !== undefined) return rule;
  const meant = closest(
    id,
    AUDIT_RULES.map((each) => each.id),
  );
  throw new CommandError(EXIT.USAGE, `there is no rule "${id}"`, {
    hint: meant === undefined ? 'heddle audit rules lists them' : `did you mean "${meant}"?`,
  });
}

function listText(rules: readonly Rule[], styled: boolean): string {
  return formatTable(
    [
      { title: 'RULE', value: ({ id }: Rule) => id },
      { title: 'SEVERITY', value: ({ severity }: Rule) => severity },
      { title: 'FIX', value: ({ fixable }: Rule) => (fixable === true ? 'yes' : '') },
      { title: 'WHAT', value: ({ title }: Rule) => title },
    ],
    rules,
    styled,
  );
}

function ruleText({ id, title, severity, fixable, explains }: Rule, { stdout }: Cli): string {
  const fix = fixable === true ? '; --fix can mend it' : '';
  return `${id}: ${title} (${severity}${fix})\n\n${wrap(explains, stdout.columns ?? 100)}\n`;
}

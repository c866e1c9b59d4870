/** What `heddle audit rules` and `heddle doctor rules` print. */

import { closest } from '@heddle/cni';
import type { Rule } from '@heddle/doctor';
import type { Cli, CommonFlags } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { emit } from '../output/emit.ts';
import { CommandError } from '../output/report-error.ts';
import { formatTable } from '../output/table.ts';
import { wrap } from '../output/wrap.ts';

/**
 * Lists the rules of a command, or explains those with these ids.
 *
 * @throws {CommandError} for an id that there is not
 */
export function printRules(
  cli: Cli,
  flags: CommonFlags,
  {
    ids,
    all,
    command,
  }: { readonly ids: readonly string[]; readonly all: readonly Rule[]; readonly command: string },
): void {
  const named = (id: string) => ruleNamed(id, all, command);
  const rules = ids.length === 0 ? all : ids.map(named);
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

function ruleNamed(id: string, all: readonly Rule[], command: string): Rule {
  const rule = all.find((each) => each.id === id);
  if (rule !== undefined) return rule;
  const meant = closest(
    id,
    all.map((each) => each.id),
  );
  throw new CommandError(EXIT.USAGE, `there is no rule "${id}"`, {
    hint: meant === undefined ? `heddle ${command} rules lists them` : `did you mean "${meant}"?`,
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

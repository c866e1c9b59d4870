/** Rules as the pages on commands list and explain them. */
import type { Rule } from '@heddle/doctor';

/** A table of the rules, and a section for each family. */
export function rulesText(rules: readonly Rule[]): string {
  const families = Map.groupBy(rules, ({ id }) => id.slice(0, id.indexOf('/')));
  return [table(rules), ...[...families].map(([family, members]) => section(family, members))].join('\n\n');
}

function table(rules: readonly Rule[]): string {
  const rows = rules.map(({ id, severity, fixable, title }) => {
    return `| [\`${id}\`](#${anchor(id)}) | ${severity} | ${fixable === true ? 'yes' : ''} | ${title} |`;
  });
  return [
    '## The rules',
    '',
    '| rule | severity | `--fix` | what is wrong |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function section(family: string, rules: readonly Rule[]): string {
  return [
    `## ${family}`,
    ...rules.map(
      ({ id, title, severity, fixable, explains }) =>
        `### ${id}\n\n**${title}** (${severity}${fixable === true ? ', can be fixed' : ''}). ${explains}`,
    ),
  ].join('\n\n');
}

/** As GitHub makes anchors of headings. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-');
}

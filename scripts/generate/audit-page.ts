/** `docs/audit.md`, made of the rules of `heddle audit`. */
import type { AuditRule } from '@heddle/doctor';

/** The whole page, in Markdown. */
export function auditPage(rules: readonly AuditRule[]): string {
  const families = Map.groupBy(rules, ({ id }) => id.slice(0, id.indexOf('/')));
  return [
    '<!-- Made by scripts/generate.ts from the rules of packages/doctor. Change them, then run it. -->',
    '# What `heddle audit` looks for',
    INTRODUCTION,
    SILENCING,
    WORKFLOWS,
    table(rules),
    ...[...families].map(([family, members]) => section(family, members)),
  ]
    .join('\n\n')
    .concat('\n');
}

const INTRODUCTION = `\`heddle audit\` reads network configurations as container runtimes and plugins will, and says what will go wrong, before a
Pod does. It is of use on any node with any CNI; Heddle's own plugins need not be there. [cli.md](cli.md#heddle-audit) has its flags.

An **error** keeps containers from starting, or from having the network that is meant. A **warning** works today and is likely to
hurt. A **note** is worth knowing. Each finding has one of the ids below; they never change their meaning.

The plugins of the reference suite and flannel are checked member by member. Well-known plugins of others (Calico, Cilium, Multus,
Weave Net, Antrea, OVN-Kubernetes, AWS VPC CNI, Azure CNI, Kube-OVN, whereabouts, SR-IOV and more) are checked for misspelled members
and wrong types. Of plugins that nobody knows only what the specification asks of all is looked at.`;

const SILENCING = `## Silencing

What you know and accept goes into \`/etc/heddle/silence.jsonc\`, or a file that \`--silence\` names. A reason is required; \`where\` is a
part of the file's path, and everywhere when it is left out. Comments are allowed.

\`\`\`json
{
  "silence": [
    { "id": "chain/no-policy-engine", "reason": "single-tenant lab", "where": "10-lab.conflist" }
  ]
}
\`\`\``;

const WORKFLOWS = `## In a workflow

\`\`\`sh
heddle audit deploy/net.d --format github --fail-on error   # annotations
heddle audit deploy/net.d --format sarif > audit.sarif      # for a code scanner
\`\`\`

The exit code is 0 when there is nothing worse than a note, 4 when there are warnings, 5 when there are errors. \`--fail-on\` moves
the border.`;

function table(rules: readonly AuditRule[]): string {
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

function section(family: string, rules: readonly AuditRule[]): string {
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

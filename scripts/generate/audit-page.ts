/** `docs/audit.md`, made of the rules of `heddle audit`. */
import type { Rule } from '@heddle/doctor';
import { rulesText } from './rules-text.ts';

/** The whole page, in Markdown. */
export function auditPage(rules: readonly Rule[]): string {
  return [
    '<!-- Made by scripts/generate.ts from the rules of packages/doctor. Change them, then run it. -->',
    '# What `heddle audit` looks for',
    INTRODUCTION,
    SILENCING,
    WORKFLOWS,
    rulesText(rules),
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

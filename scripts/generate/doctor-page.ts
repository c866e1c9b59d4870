/** `docs/doctor.md`, made of the rules of `heddle doctor`. */
import type { Rule } from '@heddle/doctor';
import { rulesText } from './rules-text.ts';

/** The whole page, in Markdown. */
export function doctorPage(rules: readonly Rule[], logRules: readonly Rule[]): string {
  return [
    '<!-- Made by scripts/generate.ts from the rules of packages/doctor. Change them, then run it. -->',
    '# What `heddle doctor` looks for',
    INTRODUCTION,
    WALK,
    REPAIR,
    LOGS,
    rulesText(rules),
    '# What only logs tell',
    ...logRules.map(
      ({ id, title, severity, explains }) => `## ${id}\n\n**${title}** (${severity}). ${explains}`,
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

const INTRODUCTION = `\`heddle doctor\` looks at a node as it is: what netlink, nftables, files, plugins and the kernel's log say, and what becomes
of a few packets. It is of use on any node with any CNI; Heddle's own plugins need not be there. [cli.md](cli.md#heddle-doctor)
has its flags.

Configurations are looked at by the [audit](audit.md); its errors are told here too. Errors come first, and of equally bad findings
those that explain others: a plugin that is missing before a container without an address. Findings are silenced as those of the
audit are.

Probes are harmless: echo requests, ARP probes that tell no address of the asker's, neighbour solicitations; a few at a time, and
each answered by the kernel of who is asked. Nothing is changed on the node, but for the table \`inet heddle-doctor\` while packets are
followed. It belongs to the process: if that is killed, the kernel removes the table.`;

const WALK = `## Following packets

\`\`\`console
# heddle doctor web --probe 198.51.100.9
web eth0 on podnet, IPv4, to 198.51.100.9
  ok   namespace  eth0 has 10.45.0.2
  ok   gateway    10.45.0.1 answers
  lost filter     Docker drops packets of the container to 198.51.100.9
\`\`\`

An echo request goes out of the container's namespace. The kernel is asked to trace it through nftables; four chains of the doctor's
own, at the ends of the hooks, tell how far it came. From that, the kernel's own answer about the route, connection tracking and
a control packet from the node follows where it was lost: on the link, in the route, in which rule of whom, for want of translation,
beyond the node, or on the way back. When it is answered, packets of the container's full size that must not be fragmented are
tried, and the largest that gets through is told.

Links that bypass the node (macvlan, ipvlan, SR-IOV) and packets that eBPF programs take cannot be traced; of those the ends are
told.`;

const REPAIR = `## Repair

\`--fix\` frees addresses of host-local that are held for containers that are gone, and nothing else. An address counts as leaked when
it is in no network namespace of the node, no link of the node belongs to its holder, the runtime's cache does not know the holder or
its namespace is gone, and the reservation is older than a minute. That must hold twice, ten seconds apart; then, under host-local's lock,
it is checked again, and that very reservation is removed. \`--dry-run\` shows which.

What else is found is not repaired: the remedy says how, and the decision is the operator's. Where commands do it, they are beside
it, each a whole line behind a \`$\` that is to be typed as root as it is (\`commands\` in JSON):

\`\`\`
c1 eth0 on podnet
  error veth3d81f3a5 on the node is down [attachment/link-down]
    The container has no network.
    to mend: set it up again; keep network managers off it
      $ ip link set veth3d81f3a5 up
\`\`\`

One fault may hide another: mend the first finding, and look again.`;

const LOGS = `## Reading logs

\`\`\`sh
journalctl -u kubelet -u containerd -b | heddle doctor logs -
heddle doctor logs /var/log/crio.log
\`\`\`

The usual failures of CNI, as the kubelet, containerd, CRI-O, Podman, plugins and the kernel word them, are told in plain words: each
kind once, with how often and for whom, the rule that looks for the cause on the node, and what to do. What other work fails in
the same words (a full disk, a port that is taken) is told only of lines about the network of a container.`;

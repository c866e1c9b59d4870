/** `docs/lock.md`, made of the rules of `heddle verify`. */
import type { Rule } from '@heddle/doctor';

/** The whole page, in Markdown. */
export function lockPage(rules: readonly Rule[]): string {
  return [
    '<!-- Made by scripts/generate.ts from the rules of packages/doctor. Change them, then run it. -->',
    "# A node's networking, pinned: `heddle lock` and `heddle verify`",
    INTRODUCTION,
    CONTENT,
    SIGNATURES,
    PLACES,
    '## What is found',
    ...rules.map(
      ({ id, title, severity, explains }) => `### ${id}\n\n**${title}** (${severity}). ${explains}`,
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

const INTRODUCTION = `Plugins run as root for every container, and a file with a lower number takes over the network of a node without a word.
\`heddle lock\` writes down what a node's networking is made of; \`heddle verify\` tells, item by item, what is different now.

\`\`\`sh
heddle lock                      # writes heddle.lock.json
git add heddle.lock.json
heddle verify                    # 0: as locked, 4: warnings, 5: errors
heddle verify --format github    # annotations; also json and sarif
\`\`\`

Both are of use with any CNI: nothing of Heddle's own need be installed.`;

const CONTENT = `## What is in a lock

\`\`\`json
{
  "lockVersion": 1,
  "network": "podnet",
  "files": [{ "path": "10-podnet.conflist", "sha256": "…", "network": "podnet" }],
  "plugins": [{ "type": "bridge", "path": "/opt/cni/bin/bridge", "sha256": "…", "versions": ["1.0.0", "1.1.0"] }],
  "kernel": ["link bridge", "link veth", "nft nat"]
}
\`\`\`

- \`network\`: the network that a runtime takes by itself, that of the first file by name that can be used.
- \`files\`: every configuration of the directory, broken ones too, and those in the folder that is named for a network. Paths are
  below the directory (\`NETCONFPATH\`, else \`/etc/cni/net.d\`).
- \`plugins\`: the program behind each type that a network names, the one that gives addresses and the delegates of flannel and
  Multus among them, as it is found in \`CNI_PATH\` (else in \`/opt/cni/bin\`, and where the runtimes of the
  node are told to look). The digest is of what a link leads to.
- \`kernel\`: what the plugins that are known here need. Each is tried in a network namespace that is thrown away, when the lock is
  made and when it is verified. That needs root.

Lists are sorted and there are no times, so two nodes that are set up alike have the same text, to the byte.
A lock is not made when a plugin is missing or a file cannot be read: it would pin a gap. It is written under another name first
and then renamed.
It is not written into the directory of networks, where runtimes would read it as one, nor over a file that is no lock.`;

const SIGNATURES = `## Signatures

\`\`\`sh
openssl genpkey -algorithm ed25519 -out lock.key
openssl pkey -in lock.key -pubout -out lock.pub
heddle lock --sign lock.key
heddle verify --verify-key lock.pub
\`\`\`

The signature is of the lock's own text, without the member \`signature\`; formatting of the file does not count. \`signature.key\` is the SHA-256 of
the public key in its DER form: it says which key it was, and proves nothing. Without \`--verify-key\` no signature is looked at.`;

const PLACES = `## On a node, and in a workflow

As a check of a node, run \`heddle verify --file /etc/heddle/lock.json --verify-key /etc/heddle/lock.pub\` from a timer or the kubelet's
node problem detector: the exit code says enough, and \`-o json\` the rest. In a workflow that builds images of nodes, \`NETCONFPATH\` and
\`CNI_PATH\` point into the image; findings that are known are silenced by the [audit's file](audit.md), each with its reason.

When a change is meant, take the lock anew: the difference in Git shows what it was.`;

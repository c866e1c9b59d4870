/** The documentation of the command, made from the commands themselves: `docs/cli.md`. */

import type { HeddleCommand } from './command.ts';
import { flagsOf } from './command-flags.ts';
import { COMMANDS } from './commands/index.ts';
import { EXIT_MEANINGS } from './exit-codes.ts';

/** The whole page, in Markdown. */
export function commandReference(): string {
  return [
    '<!-- Made by scripts/generate.ts from the commands. Change them, then run it. -->',
    '# The `heddle` command',
    INTRODUCTION,
    commandTable(),
    EVERYWHERE,
    ['## Exit codes', table(['code', 'meaning'], EXIT_MEANINGS)].join('\n\n'),
    CNITOOL,
    ...COMMANDS.map(commandSection),
  ]
    .join('\n\n')
    .concat('\n');
}

const INTRODUCTION =
  'One command for the people who run a node: it attaches namespaces to networks as a container runtime does, shows what is ' +
  'attached as the kernel has it, and installs the plugins.';

const EVERYWHERE = `## Everywhere

- \`-o json\` prints one JSON document of a stable shape, given below for each command: members are added, never renamed, removed
  or left out; \`null\` stands for what is not known. Without it, tables and texts are for people and may change.
- A failure is told on stderr, as \`heddle: what failed, on what, why\`, with \`hint:\` lines below it; configurations with file,
  line and column. With \`-o json\` it is also printed on stdout:
  \`{ error: { code: string, cniCode: number, message: string, hints: string[], errors: string[] } }\`; the codes are those of
  [errors.md](errors.md). \`--debug\` adds the stack.
- NETNS is a path, or a bare name, which stands for \`/run/netns/NAME\` as with \`ip netns\`.
- These variables are read: \`NETCONFPATH\` (the directory of networks, default \`/etc/cni/net.d\`), \`CNI_PATH\` (the plugin directories,
  separated by \`:\`, default \`/opt/cni/bin\` and where the runtimes of this node are told to look), \`CNI_ARGS\` (\`KEY=value;…\`),
  \`CAP_ARGS\` (capability arguments, a JSON object), \`CNI_IFNAME\` (default \`eth0\`).`;

const CNITOOL = `## In place of cnitool

\`add\`, \`del\`, \`check\`, \`gc\` and \`status\` take cnitool's arguments and variables, and derive the same container ID from the
namespace's path, so either can delete what the other added. What differs:

- \`CNI_PATH\` and the directory of networks have defaults.
- A bare name as NETNS is one of \`ip netns\`, not a file in the working directory (write \`./name\` for that).
- \`gc\` and \`status\` do not need NETNS, which neither looks at.
- \`add\` refuses what is attached already, and takes down again what a failed attempt set up. \`del\` runs the
  configuration that \`add\` ran, and goes on past a plugin that fails. \`gc\` can be told what to keep.
- \`check\` refuses what is not attached. \`status\` looks for the plugins of older networks, which have no such verb.
- Configuration and capability arguments that have no effect are warned of.
- A command line that is not understood ends with 2, and says what is wrong in two lines.`;

function commandTable(): string {
  return table(
    ['command', 'what it does'],
    COMMANDS.map(({ lesson: { name, brief } }) => [`[\`${name}\`](#heddle-${name})`, brief] as const),
  );
}

function commandSection(entry: HeddleCommand): string {
  const { name, brief, about, examples, usage, json } = entry.lesson;
  const flags = flagsOf(entry).map(({ spelling, meaning }) => [`\`${spelling}\``, meaning] as const);
  return [
    `## heddle ${name}`,
    `${brief.slice(0, 1).toUpperCase()}${brief.slice(1)}.`,
    `\`\`\`\nheddle ${name} ${usage}\n\`\`\``,
    ...about,
    table(['flag', 'meaning'], flags),
    examples.map(({ command: line, what }) => `\`\`\`sh\n# ${what}\n${line}\n\`\`\``).join('\n\n'),
    ...(json === '' ? [] : [`\`-o json\` prints:`, `\`\`\`ts\n${json}\n\`\`\``]),
  ].join('\n\n');
}

/** Columns are padded as the project's formatter pads them. */
function table(titles: readonly [string, string], rows: readonly (readonly [string, string])[]): string {
  const cells = [titles, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = titles.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = cells;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}

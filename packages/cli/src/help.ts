/** What `--help` says, made from the commands' own lessons. */
import { styleText } from 'node:util';
import type { CommandLesson, HeddleCommand } from './command.ts';
import { flagsOf } from './command-flags.ts';
import { wrap } from './output/wrap.ts';

/** How help is laid out. */
export interface HelpOptions {
  /** The most columns that it takes. */
  readonly width: number;
  readonly styled: boolean;
}

/** Help for `heddle` itself: the commands, by what one wants to do. */
export function overviewHelp(commands: readonly HeddleCommand[], { width, styled }: HelpOptions): string {
  const longest = Math.max(...commands.map(({ lesson: { name } }) => name.length));
  const groups = Object.groupBy(commands, ({ lesson: { group } }) => group);
  const sections = Object.entries(groups).map(([title, members = []]) => [
    heading(title, styled),
    ...members.map(({ lesson: { name, brief } }) => entry(name, brief, longest, width)),
  ]);
  return [
    wrap(INTRODUCTION, width),
    `usage: heddle <command> [flag]... [argument]...`,
    ...sections.map((lines) => lines.join('\n')),
    'heddle <command> --help explains a command, with examples.',
  ]
    .join('\n\n')
    .concat('\n');
}

/** Help for one command. */
export function commandHelp(command: HeddleCommand, { width, styled }: HelpOptions): string {
  const { name, brief, about, examples, usage } = command.lesson;
  const flags = flagsOf(command).map(({ spelling, meaning }) => [spelling, meaning] as const);
  const longest = Math.max(...flags.map(([spelling]) => spelling.length));
  return [
    `heddle ${name}: ${brief}`,
    `usage: heddle ${name} ${usage}`,
    ...about.map((paragraph) => wrap(paragraph, width)),
    [
      heading('Flags', styled),
      ...flags.map(([spelling, meaning]) => entry(spelling, meaning, longest, width)),
    ].join('\n'),
    [heading('Examples', styled), ...exampleLines(examples, styled)].join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
}

const INTRODUCTION =
  'Heddle attaches containers to networks, by the Container Network Interface (CNI): it runs the plugins that a ' +
  'configuration in /etc/cni/net.d names, shows what is attached, and installs its own plugins.';

function exampleLines(examples: CommandLesson['examples'], styled: boolean): readonly string[] {
  return examples.map(({ command, what }) => {
    const comment = `  # ${what}`;
    return `${styled ? styleText('dim', comment, { validateStream: false }) : comment}\n  ${command}`;
  });
}

function heading(text: string, styled: boolean): string {
  return styled ? styleText('bold', text, { validateStream: false }) : text;
}

function entry(name: string, text: string, longest: number, width: number): string {
  const indent = longest + 5;
  return `  ${name.padEnd(longest)}   ${wrap(text, width - indent).replaceAll('\n', `\n${' '.repeat(indent)}`)}`;
}

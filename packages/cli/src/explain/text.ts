/** What `heddle explain` says, for people. */
import { styleText } from 'node:util';
import type { Candidate, ExplainedPlugin, Explanation, Program } from '@heddle/doctor';
import { jsonText } from '../output/json-text.ts';
import { printable } from '../output/printable.ts';
import { formatFacts, formatTable } from '../output/table.ts';
import { wrap } from '../output/wrap.ts';
import { certainFailures } from './certain-failures.ts';

/** How it is laid out. */
export interface ExplainStyle {
  readonly styled: boolean;
  /** How wide a line may be. */
  readonly width: number;
  /** Which variables of the caller's own the plugins get too. */
  readonly inherited: number;
}

/** The explanation in sections, each with a newline at its end. */
export function explanationText(explanation: Explanation, style: ExplainStyle): string {
  const { network } = explanation;
  const sections = [choiceText(explanation, style)];
  if (network !== undefined) {
    sections.push(environmentText(network.env, style));
    for (const [index, plugin] of network.plugins.entries()) {
      sections.push(pluginText(plugin, index, network.cniVersion, style));
    }
  }
  sections.push(...waysText(explanation, style));
  return sections.join('\n');
}

/** Which network it is about. */
export function summaryText({ network, runtime }: Explanation, style: ExplainStyle): string {
  if (network === undefined) return '';
  return formatFacts(
    [
      ['runtime', runtime.title],
      ['network', `${network.name}, from ${network.file}`],
      ['plugins', network.plugins.map(({ type }) => type).join(' → ')],
    ],
    style.styled,
  );
}

function choiceText(explanation: Explanation, style: ExplainStyle): string {
  const { runtime, directory, cacheDir, choice, network, asked } = explanation;
  const facts: (readonly [string, string])[] = [
    ['runtime', wrap(`${runtime.title} ${runtime.chooses}`, style.width - 12)],
  ];
  if (network === undefined) {
    const which = asked === undefined ? 'none' : `no file has the network "${asked}"`;
    facts.push(['network', `${which}: ADD would fail before any plugin runs`]);
  } else {
    const other = asked === undefined || asked === network.name ? '' : `, whoever asks for ${asked}`;
    facts.push(
      ['network', `${network.name}, from ${network.file}${other}`],
      ['version', `${network.cniVersion}, ${network.versionReason}`],
      ['plugins', network.plugins.map(({ type }) => type).join(' → ')],
      ['cache', `${cacheDir}/results`],
    );
    const failures = certainFailures(network);
    if (failures.length > 0) facts.push(['verdict', `ADD would fail: ${printable(failures.join('; '))}`]);
  }
  const files = formatTable(FILE_COLUMNS, choice.candidates, style.styled);
  const none = choice.isDirectoryMissing ? 'there is no such directory' : 'no configurations';
  const listed = choice.candidates.length === 0 ? `  ${none}\n` : indented(files, 2);
  return `${formatFacts(facts, style.styled)}\n${heading(`Files in ${directory}`, style)}\n${listed}`;
}

const FILE_COLUMNS = [
  { title: 'FILE', value: ({ name }: Candidate) => name },
  { title: 'NETWORK', value: ({ list }: Candidate) => list?.name ?? '' },
  { title: 'FATE', value: ({ fate }: Candidate) => fate },
  { title: 'WHY', value: ({ reason }: Candidate) => reason },
];

function environmentText(env: Readonly<Record<string, string>>, style: ExplainStyle): string {
  const lines = Object.entries(env).map(([name, value]) => `  ${name}=${printable(value)}\n`);
  const more = style.inherited === 0 ? '' : "  and those of the runtime's own environment\n";
  return `${heading('Environment of every plugin', style)}\n${lines.join('')}${more}`;
}

function pluginText(plugin: ExplainedPlugin, index: number, version: string, style: ExplainStyle): string {
  const { type, program, delegates, capabilities, stdin, prevResultFrom, speaksVersion } = plugin;
  const facts: (readonly [string, string])[] = [
    ['program', programText(program)],
    ['speaks', speaksText(program, version, speaksVersion)],
    ...delegates.map(({ work, type: delegate, program: own }): readonly [string, string] => [
      work === 'addresses' ? 'addresses' : 'delegate',
      `${delegate}: ${programText(own)}`,
    ]),
    ...(capabilities.length === 0
      ? []
      : [['capabilities', capabilities.map(({ name, state }) => `${name}: ${state}`).join('\n')] as const]),
  ];
  const input = `stdin\n${indented(`${stdinText(stdin, prevResultFrom, style.width - 6)}\n`, 2)}`;
  return `${heading(`${index + 1}. ${type}`, style)}\n${indented(`${formatFacts(facts, style.styled)}${input}`, 2)}`;
}

/** A program in one line, its problems below. */
function programText({ path, target, kind, size, sha256, obstacles, problem }: Program): string {
  const facts = [
    ...(kind === undefined || kind === 'unknown' ? [] : [kind]),
    ...(size === undefined ? [] : [sizeText(size)]),
    ...(sha256 === undefined ? [] : [`sha256 ${sha256.slice(0, 12)}`]),
  ];
  const where = path === undefined ? [] : [target === undefined ? path : `${path} → ${target}`];
  const first = [...where, ...(facts.length === 0 ? [] : [`(${facts.join(', ')})`])].join(' ');
  const obstacleLines = obstacles.map((obstacle) => `although ${obstacle}`);
  return [
    ...(first === '' ? [] : [first]),
    ...(problem === undefined ? [] : [problem]),
    ...obstacleLines,
  ].join('\n');
}

function speaksText({ versions }: Program, version: string, speaks: boolean | undefined): string {
  if (versions === undefined) return 'not known';
  return `${versions.join(', ')}${speaks === false ? `; not ${version}: ADD would fail` : ''}`;
}

/** The configuration as it is read best; the bytes are in the JSON. */
function stdinText(stdin: string, prevResultFrom: string | undefined, width: number): string {
  const members = Object.entries(JSON.parse(stdin) as object).map(([name, value]) => {
    const label = `"${name}": `;
    return `  ${label}${jsonText(value, width - 2 - label.length).replaceAll('\n', '\n  ')}`;
  });
  if (prevResultFrom !== undefined) members.push(`  "prevResult": the result of ${prevResultFrom}`);
  return `{\n${members.join(',\n')}\n}`;
}

function waysText({ runtime, network }: Explanation, style: ExplainStyle): readonly string[] {
  const notes = [
    ...(network?.withheld ?? []).map((name) => `${runtime.title} never passes ${name}: it was left out.`),
    ...(network?.unclaimed ?? []).map(
      (name) => `No plugin declares the capability ${name}: it goes nowhere.`,
    ),
    ...(runtime.name !== 'heddle' && network?.cniVersion === '1.1.0'
      ? ['containerd 1.x and Podman 4 refuse results of version 1.1.0; write 1.0.0 for them.']
      : []),
    ...(runtime.sends === undefined ? [] : [`Capabilities that it passes: ${runtime.sends.join(', ')}.`]),
    ...runtime.ways,
  ];
  if (notes.length === 0) return [];
  const bullets = notes.map((note) => `  - ${wrap(note, style.width - 4).replaceAll('\n', '\n    ')}\n`);
  return [`${heading(`Ways of ${runtime.title}`, style)}\n${bullets.join('')}`];
}

/** `3.2 MiB` */
function sizeText(bytes: number): string {
  return bytes < 1 << 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}

/** A heading; bold on a terminal. */
export function heading(text: string, { styled }: Pick<ExplainStyle, 'styled'>): string {
  return styled ? styleText('bold', text, { validateStream: false }) : text;
}

/** Every line of a text that ends with a newline, moved to the right. */
export function indented(text: string, by: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(by));
}

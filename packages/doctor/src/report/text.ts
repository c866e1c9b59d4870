/** A report for people: grouped by file or subject, the likeliest cause first, colours only where they show. */
import type { Finding, Fix, Place, Severity } from '../finding.ts';
import { countWords, type Report } from './report.ts';

/** What the text is shown on. */
export interface TextStyle {
  /** Whether colours and weights show. */
  readonly styled?: boolean;
  /** How wide a line may be, in columns. */
  readonly width?: number;
}

/** The report as text that ends with a newline. */
export function renderText({ findings, silenced, checked }: Report, style: TextStyle = {}): string {
  const groups = [...Map.groupBy(findings, groupOf)].map(([group, members]) =>
    [
      ...(group === '' ? [] : [paint(style, 'bold', printable(group))]),
      ...members.map((finding) => findingText(finding, style)),
    ].join('\n'),
  );
  const summary = [
    `${findings.length === 0 ? paint(style, 'green', 'nothing found') : countWords(findings)} (${checked})`,
    ...(silenced.length > 0 ? [`${silenced.length} silenced`] : []),
    ...fixesOf(findings),
  ].join(', ');
  return `${[...groups, summary].join('\n\n')}\n`;
}

/** How many findings each command mends: the doctor tells of an audit's, too. */
function fixesOf(findings: readonly Finding[]): readonly string[] {
  const commands = findings.flatMap(({ fix }) => (fix === undefined ? [] : commandOf(fix)));
  return [...Map.groupBy(commands, (command) => command)].map(
    ([command, { length }]) => `${length} can be mended with ${command}`,
  );
}

function commandOf({ command }: Fix): string {
  return command === undefined ? '--fix' : `\`${command}\``;
}

function groupOf({ place, subject }: Finding): string {
  return place?.file ?? subject ?? '';
}

function findingText(finding: Finding, style: TextStyle): string {
  const { severity, id, place, what, consequence, remedy, commands = [], evidence = [] } = finding;
  const at = lineAndColumn(place);
  const head = [
    paint(style, COLOURS[severity], severity),
    ...(at === '' ? [] : [at]),
    `${printable(what)} ${paint(style, 'dim', `[${id}]`)}`,
  ].join(' ');
  const about =
    place !== undefined && finding.subject !== undefined ? [`    on ${printable(finding.subject)}`] : [];
  return [
    `  ${head}`,
    ...about,
    ...excerptLines(place, style),
    ...paragraph(style, '', consequence),
    ...paragraph(style, 'to mend: ', remedy),
    ...commandLines(commands),
    ...evidence.flatMap((line) => paragraph(style, '- ', line)),
  ].join('\n');
}

const COLOURS: Readonly<Record<Severity, keyof typeof CODES>> = {
  error: 'red',
  warning: 'yellow',
  note: 'cyan',
};

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

function paint({ styled = false }: TextStyle, colour: keyof typeof CODES, text: string): string {
  return styled ? `\x1b[${CODES[colour]}m${text}\x1b[0m` : text;
}

function lineAndColumn(place: Place | undefined): string {
  if (place?.line === undefined) return '';
  return place.column === undefined ? `${place.line}` : `${place.line}:${place.column}`;
}

/** The line of the file and a mark below the column; a long line is cut around it. */
function excerptLines(place: Place | undefined, style: TextStyle): readonly string[] {
  if (place?.excerpt === undefined || place.excerpt.trim() === '') return [];
  const { excerpt, column = 1 } = place;
  const room = Math.max((style.width ?? WIDTH) - 8, 20);
  const indent = excerpt.length - excerpt.trimStart().length;
  const start =
    column - 1 - indent > room - 10 ? column - 1 - Math.floor(room / 2) : Math.min(indent, column - 1);
  const cut = excerpt.slice(start, start + room);
  const mark = `${' '.repeat(printable(excerpt.slice(start, column - 1)).length)}^`;
  return [`      ${printable(cut)}`, `      ${paint(style, 'dim', mark)}`];
}

function paragraph(style: TextStyle, label: string, text: string): readonly string[] {
  const room = (style.width ?? WIDTH) - 4 - label.length;
  const lines = wrap(printable(text), room);
  return lines.map((line, index) => `    ${index === 0 ? label : ' '.repeat(label.length)}${line}`);
}

/** Not wrapped: a line is copied as a whole. */
function commandLines(commands: readonly string[]): readonly string[] {
  const shown = commands.slice(0, MOST_COMMANDS);
  const rest = commands.length - shown.length;
  return [
    ...shown.map((command) => `      $ ${printable(command)}`),
    ...(rest > 0 ? [`      … and ${rest} more; \`--format json\` has all`] : []),
  ];
}

const MOST_COMMANDS = 10;
const WIDTH = 100;

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Names come from files and from the kernel: whatever would move a terminal's cursor is written as `\x1b`. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (char) =>
    char === '\t' ? ' ' : `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

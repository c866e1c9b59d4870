/** Aligned columns without borders, as the tools of this field print them. */
import { stripVTControlCharacters, styleText } from 'node:util';
import { printable } from './printable.ts';

/** One column of a table. */
export interface Column<T> {
  readonly title: string;
  readonly value: (row: T) => string;
  /** Numbers line up at their ends. */
  readonly align?: 'right';
}

/**
 * A table as text, with a newline at the end of each line.
 *
 * @param styled whether a terminal shows it: titles are then dimmed
 * @example formatTable([{ title: 'NAME', value: (link) => link.name }], links, false)
 */
export function formatTable<T>(columns: readonly Column<T>[], rows: readonly T[], styled: boolean): string {
  const titles = columns.map(({ title }) => dimmed(title, styled));
  const lines = [titles, ...rows.map((row) => columns.map(({ value }) => printable(value(row)) || '-'))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => widthOf(line[index] ?? ''))));
  const formatLine = (line: readonly string[]): string =>
    columns
      .map(({ align }, index) => pad(line[index] ?? '', widths[index] ?? 0, align))
      .join(GAP)
      .trimEnd();
  return lines.map((line) => `${formatLine(line)}\n`).join('');
}

/** Facts with their names, one a line, lined up; a value of several lines makes as many. */
export function formatFacts(
  facts: readonly (readonly [name: string, value: string])[],
  styled: boolean,
): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts
    .flatMap(([name, value]) =>
      (value || '-').split('\n').map((line, index) => {
        const label = (index === 0 ? name : '').padEnd(width);
        return `${dimmed(label, styled)}${GAP}${printable(line)}\n`;
      }),
    )
    .join('');
}

const GAP = '   ';

function dimmed(text: string, styled: boolean): string {
  return styled ? styleText('dim', text, { validateStream: false }) : text;
}

function pad(text: string, width: number, align: Column<unknown>['align']): string {
  const blank = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'right' ? `${blank}${text}` : `${text}${blank}`;
}

function widthOf(text: string): number {
  return [...stripVTControlCharacters(text)].length;
}

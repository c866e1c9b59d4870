/** A matrix for people. */
import type { Matrix, Reach } from './matrix.ts';

/**
 * The matrix as a table, askers downwards: in each cell the families by which all ways worked, a dash for one by which
 * not. Below it, what did not work.
 *
 * @example
 * //           pod1-1  pod2-1
 * // node1     4 6     4 6
 * // pod1-1    .       4 -
 */
export function matrixText(matrix: Matrix): string {
  const cells = new Map<string, Reach[]>();
  for (const reach of matrix.reaches) {
    const key = `${reach.from} ${reach.to}`;
    cells.set(key, [...(cells.get(key) ?? []), reach]);
  }
  const rows = [
    ['', ...matrix.to],
    ...matrix.from.map((from) => [from, ...matrix.to.map((to) => cellOf(cells.get(`${from} ${to}`)))]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const table = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd((widths[column] ?? 0) + 2))
      .join('')
      .trimEnd(),
  );
  return `${[...table, ...problemLines(matrix)].join('\n')}\n`;
}

function cellOf(reaches: readonly Reach[] | undefined): string {
  if (reaches === undefined) return '.';
  return reaches
    .toSorted((a, b) => a.family - b.family)
    .map(({ family, failures }) => (Object.keys(failures).length === 0 ? `${family}` : '-'))
    .join(' ');
}

function problemLines({ reaches }: Matrix): readonly string[] {
  const failed = reaches.filter(({ failures }) => Object.keys(failures).length > 0);
  const sentence = `${reaches.length - failed.length} of ${reaches.length} ways are open (each: ping, UDP and TCP)`;
  const shown = failed.slice(0, SHOWN).map(({ from, to, address, failures }) => {
    const why = Object.entries(failures).map(([way, reason]) => `${way}: ${reason}`);
    return `  ${from} to ${to} (${address}): ${why.join(', ')}`;
  });
  const more = failed.length > SHOWN ? [`  and ${failed.length - SHOWN} more`] : [];
  return ['', sentence, ...shown, ...more];
}

const SHOWN = 12;

/** A change of a file as a unified diff, as `diff -u` writes it. */
import type { FileChange } from './plan.ts';

/** The diff, ending with a newline; what the eye cannot see is told in words. */
export function unifiedDiff({ path, before, after, renameTo = path, isReencoded, what }: FileChange): string {
  const head = [
    ...what.map((each) => `# ${path}: ${each}`),
    ...(isReencoded ? ['# the file is UTF-16 now'] : []),
    `--- ${path}`,
    `+++ ${renameTo}`,
  ];
  return `${[...head, ...hunks(before.split('\n'), after.split('\n'))].map(visible).join('\n')}\n`;
}

const CONTEXT = 3;

/** Lines that both have at the beginning and at the end are left out; configurations are short. */
function hunks(before: readonly string[], after: readonly string[]): readonly string[] {
  const lines = compare(before, after);
  const changed = lines.flatMap(({ mark }, index) => (mark === ' ' ? [] : [index]));
  const result: string[] = [];
  let at = 0;
  while (at < changed.length) {
    const first = changed[at] ?? 0;
    let last = first;
    while (at < changed.length && (changed[at] ?? 0) - last <= 2 * CONTEXT) last = changed[at++] ?? last;
    const slice = lines.slice(Math.max(first - CONTEXT, 0), last + CONTEXT + 1);
    const earlier = lines.slice(0, Math.max(first - CONTEXT, 0));
    const count = (from: readonly Line[], mark: '-' | '+') =>
      from.filter((line) => line.mark === ' ' || line.mark === mark).length;
    const side = (mark: '-' | '+') => `${count(earlier, mark) + 1},${count(slice, mark)}`;
    result.push(`@@ -${side('-')} +${side('+')} @@`, ...slice.map(({ mark, text }) => `${mark}${text}`));
  }
  return result;
}

interface Line {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/** The longest common subsequence of lines; beyond a size, everything between the equal ends is replaced. */
function compare(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before.at(-1 - end) === after.at(-1 - end)
  )
    end++;
  const same = (lines: readonly string[]) => lines.map((text): Line => ({ mark: ' ', text }));
  const [old, fresh] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  return [...same(before.slice(0, start)), ...middle(old, fresh), ...same(before.slice(before.length - end))];
}

const LIMIT = 1_000_000;

function middle(old: readonly string[], fresh: readonly string[]): readonly Line[] {
  if (old.length * fresh.length > LIMIT) {
    return [
      ...old.map((text): Line => ({ mark: '-', text })),
      ...fresh.map((text): Line => ({ mark: '+', text })),
    ];
  }
  const width = fresh.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = fresh.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        old[row] === fresh[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < fresh.length) {
    const [left, right] = [old[row], fresh[column]];
    if (left !== undefined && left === right) {
      lines.push({ mark: ' ', text: left });
      row++;
      column++;
    } else if (left !== undefined && (right === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ mark: '-', text: left });
      row++;
    } else if (right !== undefined) {
      lines.push({ mark: '+', text: right });
      column++;
    }
  }
  return lines;
}

/** Carriage returns and marks are shown; what could move a terminal's cursor is, too. */
function visible(line: string): string {
  return line.replaceAll('\ufeff', '<BOM>').replace(/\p{Cc}/gu, (char) => {
    if (char === '\t') return char;
    return char === '\r' ? '<CR>' : `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

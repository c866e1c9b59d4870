/** From findings to the changes of files: pure, nothing is written. */
import type { Finding, TextEdit } from '../../finding.ts';
import { decodeBytes } from '../model/file.ts';
import type { ReadFiles } from '../model/ports.ts';

/** What a repair makes of one file. */
export interface FileChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  /** The name that it gets, where that changes, too. */
  readonly renameTo?: string;
  /** Whether the file was in an encoding that JSON may not have; it is written as UTF-8. */
  readonly isReencoded: boolean;
  /** What is done, once each. */
  readonly what: readonly string[];
}

/**
 * What the fixes of findings come to, file by file. Of edits that overlap the first wins; the others are found again
 * by the next audit. A file that is gone is left out.
 */
export function planFixes(findings: readonly Finding[], files: ReadFiles): readonly FileChange[] {
  const edits = findings.flatMap(({ fix }) =>
    (fix?.edits ?? []).map((edit) => ({ edit, what: fix?.what ?? '' })),
  );
  const renames = new Map(
    findings.flatMap(({ fix }) =>
      fix?.rename === undefined ? [] : [[fix.rename.from, { to: fix.rename.to, what: fix.what }] as const],
    ),
  );
  const paths = [...new Set([...edits.map(({ edit }) => edit.file), ...renames.keys()])].sort();
  return paths.flatMap((path) => {
    const bytes = files.read(path);
    if (typeof bytes === 'string') return [];
    const { text, encoding } = decodeBytes(bytes as Uint8Array);
    const own = edits.filter(({ edit }) => edit.file === path);
    const rename = renames.get(path);
    return [
      {
        ...{ path, before: text, isReencoded: encoding === 'UTF-16LE' || encoding === 'UTF-16BE' },
        after: applyEdits(
          text,
          own.map(({ edit }) => edit),
        ),
        what: [...new Set([...own.map(({ what }) => what), ...(rename === undefined ? [] : [rename.what])])],
        ...(rename !== undefined && { renameTo: rename.to }),
      },
    ];
  });
}

/** The text with its edits made. Insertions at one place are made in their order. */
function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const ordered = edits
    .map((edit, index) => ({ ...edit, index }))
    .toSorted((a, b) => a.offset - b.offset || a.length - b.length || a.index - b.index);
  let result = '';
  let position = 0;
  for (const { offset, length, text: inserted } of ordered) {
    if (offset < position) continue;
    result += text.slice(position, offset) + inserted;
    position = offset + length;
  }
  return result + text.slice(position);
}

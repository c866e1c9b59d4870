/** Files that are no JSON. */
import { DecodeError, parseJson } from '@heddle/cni';
import { type AuditRule, fileRule } from '../audit-rule.ts';
import type { Document } from '../model/document.ts';
import { scan } from './lexical.ts';
import { refused } from './refused.ts';

const trailingComma = fileRule({
  id: 'syntax/trailing-comma',
  title: 'A comma after the last member',
  severity: 'error',
  fixable: true,
  explains:
    'JSON has no comma before a closing bracket. Editors and other languages allow it; every runtime refuses the whole file because of it.',
  *check(file, subject) {
    const { document } = file;
    if (document === undefined || document.errors.length === 0) return;
    for (const offset of scan(document.text).trailingCommas) {
      yield {
        place: document.at(offset),
        what: 'there is a comma after the last member',
        ...refused(file, subject),
        remedy: 'Remove the comma.',
        fix: { what: 'remove the comma', edits: [{ file: file.path, offset, length: 1, text: '' }] },
      };
    }
  },
});

const comment = fileRule({
  id: 'syntax/comment',
  title: 'A comment',
  severity: 'error',
  explains:
    'JSON has no comments, neither `//` nor `#`. Every runtime refuses the whole file because of one. A remark can be kept as a member with a name such as `_comment`, which plugins pass over.',
  *check(file, subject) {
    const { document } = file;
    if (document === undefined || document.errors.length === 0) return;
    for (const { offset } of scan(document.text).comments) {
      yield {
        place: document.at(offset),
        what: 'there is a comment, and JSON has none',
        ...refused(file, subject),
        remedy: 'Remove it, or keep the remark as a member: "_comment": "…".',
      };
    }
  },
});

const emptyFile = fileRule({
  id: 'syntax/empty-file',
  title: 'An empty file',
  severity: 'error',
  explains:
    'A file without content is what a full disk or a power cut leaves of a file that was being written. Every runtime refuses it; the first file in a directory keeps containerd from having any network.',
  *check(file, subject) {
    if (file.document === undefined || !isBlank(file.document)) return;
    yield {
      place: { file: file.path },
      what: 'the file is empty',
      ...refused(file, subject),
      remedy: 'Write the configuration again, or remove the file.',
    };
  },
});

const truncated = fileRule({
  id: 'syntax/truncated',
  title: 'A file that stops in the middle',
  severity: 'error',
  explains:
    'The text ends before the last bracket is closed: the file was written in part, or a bracket was lost in an edit.',
  *check(file, subject) {
    const problem = otherProblem(file.document);
    if (problem?.code !== 'JSON_TRUNCATED' || file.document === undefined) return;
    yield {
      place: file.document.at(file.document.text.trimEnd().length),
      what: `${STOPS}${note(problem)}`,
      ...refused(file, subject),
      remedy: 'Write the file again, completely, or close what is open.',
    };
  },
});

/** What the parser says of some texts, too. */
const STOPS = 'the text stops in the middle';

const invalid = fileRule({
  id: 'syntax/invalid',
  title: 'Text that is no JSON',
  severity: 'error',
  explains:
    'Anything else that JSON does not allow: a missing comma, single quotes, a word without quotes, a second document after the first. Told with the place where a reader stumbles; the cause may be just before it.',
  *check(file, subject) {
    const problem = otherProblem(file.document);
    if (problem === undefined || problem.code === 'JSON_TRUNCATED' || file.document === undefined) return;
    const place = problem.line === undefined ? { file: file.path } : placeAt(file.document, problem);
    yield {
      place,
      what: `${problem.reason}${note(problem)}`,
      ...refused(file, subject),
      remedy: 'Mend the text here, or just before.',
    };
  },
});

const notAnObject = fileRule({
  id: 'syntax/not-an-object',
  title: 'A document that is no object',
  severity: 'error',
  explains: 'A configuration is one JSON object. A list, a text or a number at the top is refused.',
  *check(file, subject) {
    const { document } = file;
    if (document === undefined || document.object !== undefined || isBlank(document)) return;
    if (document.value === undefined || document.isPartial || otherProblem(document) !== undefined) return;
    yield {
      place: document.place(),
      what: 'the document is no object',
      ...refused(file, subject),
      remedy: 'Write the configuration as { … }.',
    };
  },
});

const duplicateKey = fileRule({
  id: 'syntax/duplicate-key',
  title: 'A member that is there twice',
  severity: 'warning',
  explains:
    'Of several members with one name in an object only the last counts, so what one reads above it is not in force. Plugins match names in any letter case, so `mtu` and `MTU` are one name to them; of the keys of maps, such as `sysctl`, only equal ones are told of.',
  *check({ document }) {
    if (document === undefined) return;
    for (const { node, path } of document.objects()) {
      const isMap = MAPS.includes(String(path.at(-1)));
      const last = new Map<string, string>();
      for (const property of (node.children ?? []).toReversed()) {
        const [key] = property.children ?? [];
        const name = String(key?.value);
        const folded = isMap ? name : name.toLowerCase();
        const winner = last.get(folded);
        if (winner === undefined) last.set(folded, name);
        else if (key !== undefined) {
          yield {
            place: document.at(key.offset),
            what: `"${name}" is there again further on${winner === name ? '' : ` as "${winner}"`}`,
            consequence: 'The value here has no effect; the last one counts.',
            remedy: 'Keep one of them.',
          };
        }
      }
    }
  },
});

/** Objects whose keys are data: letter case matters in them. */
const MAPS: readonly string[] = ['sysctl', 'capabilities', 'runtimeConfig', 'labels', 'nerdctlLabels'];

/** Rules on the syntax of files, the likeliest first. */
export const SYNTAX_RULES: readonly AuditRule[] = [
  ...[trailingComma, comment, emptyFile, truncated, invalid, notAnObject, duplicateKey],
];

function isBlank({ text }: Document): boolean {
  return text.replace(/^\ufeff/, '').trim() === '';
}

/** What is wrong besides comments and trailing commas. */
function otherProblem(document: Document | undefined): DecodeError | undefined {
  if (document === undefined || document.errors.length === 0 || isBlank(document)) return undefined;
  try {
    parseJson(scan(document.text.replace(/^\ufeff/, ' ')).cleaned);
    return undefined;
  } catch (error) {
    if (error instanceof DecodeError) return error;
    throw error;
  }
}

function placeAt(document: Document, { line = 1, column = 1 }: DecodeError) {
  const lines = document.text.split('\n');
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  return document.at(before + column - 1);
}

/** The note without the place, which is told elsewhere, as is that the text stops. */
function note({ cniDetails = '' }: DecodeError): string {
  const rest = cniDetails.replace(/^line \d+, column \d+(: )?/, '');
  return rest === '' || rest === STOPS ? '' : `: ${rest}`;
}

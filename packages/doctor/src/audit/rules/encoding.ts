/** Files whose bytes are not the UTF-8 that JSON is written in, or that cannot be read at all. */

import { closest, isConfigPath } from '@heddle/cni';
import { type AuditRule, fileRule, subjectRule } from '../audit-rule.ts';
import { refused } from './refused.ts';

const unreadable = subjectRule({
  id: 'file/unreadable',
  title: 'A file or directory that cannot be read',
  severity: 'error',
  explains:
    'The file is there by name but cannot be read: a link that leads nowhere, a directory, a pipe or a device with the name of a configuration, missing permissions, something far too large or nested too deep, or a binary.',
  *check(subject) {
    for (const { path, unreadable: why } of subject.directories) {
      if (why === undefined) continue;
      yield {
        place: { file: path },
        what: `the directory cannot be read: ${why}`,
        consequence: 'Nothing in it was looked at. A runtime without permission has no network.',
        remedy: 'Run as root, or give read and search permission on the directory and all those above it.',
      };
    }
    for (const file of subject.files) {
      if (file.unreadable === undefined) continue;
      yield {
        place: { file: file.path },
        what: `the file cannot be read: ${file.unreadable}`,
        ...refused(file, subject),
        remedy: remedyFor(file.unreadable),
      };
    }
  },
});

/** By what keeps it from being read: see `nodeFiles` and `auditedFile` for the words. */
function remedyFor(why: string): string {
  if (why.includes('permission')) return 'Run as root, or let the user of the runtime read it: chmod u+r.';
  if (why.includes('link')) return 'Have the link lead to the configuration, or remove it.';
  if (/directory|regular file/.test(why)) {
    return 'Move it out of this directory, or give it a name that does not end in .conf, .conflist or .json.';
  }
  if (/binary|bytes|levels/.test(why))
    return 'It is no configuration: move it out of this directory, or write one in its place.';
  return 'See that the file system is in order, and write the file anew, or remove it.';
}

const utf16 = fileRule({
  id: 'encoding/utf-16',
  title: 'A file in UTF-16',
  severity: 'error',
  fixable: true,
  explains:
    'JSON is UTF-8. PowerShell and some editors of Windows write UTF-16, which looks the same on the screen and is refused by every runtime.',
  *check(file, subject) {
    if (file.encoding !== 'UTF-16LE' && file.encoding !== 'UTF-16BE') return;
    yield {
      place: { file: file.path, line: 1, column: 1 },
      what: `the text is ${file.encoding}, but JSON must be UTF-8`,
      ...refused(file, subject),
      remedy: 'Save the file as UTF-8.',
      fix: { what: 'write the text as UTF-8', edits: [{ file: file.path, offset: 0, length: 0, text: '' }] },
    };
  },
});

const byteOrderMark = fileRule({
  id: 'encoding/byte-order-mark',
  title: 'A byte order mark',
  severity: 'error',
  fixable: true,
  explains:
    'Three bytes that nobody sees at the beginning of the file (EF BB BF). Go, and so every runtime, refuses the file because of them.',
  *check(file, subject) {
    if (file.encoding !== 'byte order mark') return;
    yield {
      place: { file: file.path, line: 1, column: 1 },
      what: 'the text begins with a byte order mark',
      ...refused(file, subject),
      remedy: 'Save the file as UTF-8 without a mark.',
      fix: { what: 'remove the mark', edits: [{ file: file.path, offset: 0, length: 1, text: '' }] },
    };
  },
});

const damaged = fileRule({
  id: 'encoding/damaged',
  title: 'Bytes that are no UTF-8',
  severity: 'warning',
  explains:
    'Some bytes are no characters of UTF-8. Runtimes replace them by U+FFFD, so a name is no longer what it was.',
  *check({ encoding, document }) {
    if (encoding !== 'damaged' || document === undefined) return;
    yield {
      place: document.at(document.text.indexOf('\ufffd')),
      what: 'there are bytes that are no UTF-8',
      consequence: 'Runtimes read another text than the one that was written.',
      remedy: 'Save the file as UTF-8.',
    };
  },
});

const lineEndings = fileRule({
  id: 'encoding/carriage-returns',
  title: 'Line endings of Windows',
  severity: 'note',
  fixable: true,
  explains:
    'Lines end in CR LF. JSON allows it; shell scripts and templates that change the file often do not.',
  *check({ path, document }) {
    if (document === undefined) return;
    const first = document.text.indexOf('\r\n');
    if (first < 0) return;
    yield {
      place: document.at(first),
      what: 'lines end in CR LF',
      consequence: 'Runtimes accept it; scripts that change the file may not.',
      remedy: 'Save the file with LF.',
      fix: {
        what: 'end lines with LF',
        edits: [...document.text.matchAll(/\r\n/g)].map(({ index }) => ({
          file: path,
          offset: index,
          length: 1,
          text: '',
        })),
      },
    };
  },
});

const nearlyConfiguration = subjectRule({
  id: 'file/extension',
  title: 'A file name that no runtime looks at',
  severity: 'warning',
  explains:
    'Runtimes read files that end in `.conflist`, `.conf` or `.json`, in lower case. A name that is almost like that is passed over without a word.',
  *check({ directories }) {
    for (const { path, name } of directories.flatMap(({ files }) => files)) {
      const extension = /\.([a-z]+)$/i.exec(name)?.[1];
      if (extension === undefined || isConfigPath(name)) continue;
      const meant = closest(extension, ['conflist', 'conf', 'json']);
      if (meant === undefined || BACKUPS.test(name) || /^(config|cfg|jsonl|jsonc|json5)$/.test(extension))
        continue;
      yield {
        place: { file: path },
        what: `no runtime reads a file that ends in ".${extension}"`,
        consequence: 'The network in it does not exist.',
        remedy: `If it is a configuration, end its name in ".${meant}".`,
      };
    }
  },
});

const BACKUPS = /(bak|orig|old|save|swp|disabled|rpmsave|rpmnew|tmp)$/i;

/** Rules on encodings and names of files, the likeliest first. */
export const ENCODING_RULES: readonly AuditRule[] = [
  ...[unreadable, byteOrderMark, utf16, nearlyConfiguration, damaged, lineEndings],
];

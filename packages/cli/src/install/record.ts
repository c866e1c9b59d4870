/**
 * What Heddle has installed, as a file beside the plugins. A file is Heddle's own when it has the content that
 * the record says; one that somebody has changed or put there since is theirs, whatever its name.
 */
import { isJsonObject, parseJson } from '@heddle/cni';

/** The record's file name. No plugin type can be called so: runtimes ask for the types that networks name. */
export const RECORD_NAME = '.heddle-install.json';

/** See the file's comment. */
export interface InstallRecord {
  /** The version of Heddle that wrote it. */
  readonly heddle: string;
  /** SHA-256 digests of every content that Heddle put at a path, or was about to put there. */
  readonly files: Readonly<Record<string, readonly string[]>>;
  /** Where the links lead that Heddle made outside of the directory: that by which the command is typed. */
  readonly links: Readonly<Record<string, string>>;
}

/** A record that says nothing. */
export const EMPTY_RECORD: InstallRecord = { heddle: '', files: {}, links: {} };

/** The text of a record. */
export function formatRecord(record: InstallRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

/** @throws {DecodeError} when the text is no record */
export function parseRecord(text: string, file: string): InstallRecord {
  const json = parseJson(text, { what: 'read what heddle has installed', file });
  const files = isJsonObject(json) && isJsonObject(json['files']) ? json['files'] : {};
  const heddle = isJsonObject(json) ? json['heddle'] : undefined;
  const entries = Object.entries(files).map(([path, digests]) => {
    const texts: readonly unknown[] = Array.isArray(digests) ? digests : [];
    return [path, texts.filter((each) => typeof each === 'string')] as const;
  });
  return {
    heddle: typeof heddle === 'string' ? heddle : '',
    files: Object.fromEntries(entries),
    links: textMembers(isJsonObject(json) ? json['links'] : undefined),
  };
}

/** Adds a content that is about to be put at a path. */
export function claiming(record: InstallRecord, path: string, digest: string): InstallRecord {
  const known = record.files[path] ?? [];
  if (known.includes(digest)) return record;
  return { ...record, files: { ...record.files, [path]: [...known, digest] } };
}

/** Whether a content at a path is Heddle's. */
export function isClaimed(record: InstallRecord, path: string, digest: string): boolean {
  return record.files[path]?.includes(digest) ?? false;
}

/** Whether a link at a path is Heddle's. */
export function isClaimedLink({ links }: InstallRecord, path: string, target: string): boolean {
  return links[path] === target;
}

function textMembers(value: unknown): Readonly<Record<string, string>> {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

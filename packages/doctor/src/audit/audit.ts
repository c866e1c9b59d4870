/** The audit itself: reads what it is pointed at, asks every rule. */
import { resolve } from 'node:path';
import { isConfigPath } from '@heddle/cni';
import type { Finding } from '../finding.ts';
import type { AuditOptions, Subject } from './audit-rule.ts';
import { type AuditedFile, readAudited } from './model/file.ts';
import { type Network, networksOf } from './model/network.ts';
import type { HostFacts, InstalledPlugins, ReadFiles } from './model/ports.ts';
import type { AuditedDirectory } from './model/selection.ts';
import { AUDIT_RULES } from './rules.ts';

/** What an audit is asked to look at, and with what. */
export interface AuditRequest {
  /** Directories and files. */
  readonly paths: readonly string[];
  readonly files: ReadFiles;
  readonly options?: AuditOptions;
  /** Facts of this machine; leave them out for configurations of another. */
  readonly host?: HostFacts;
  readonly installed?: InstalledPlugins;
}

/** What an audit came to. */
export interface Audited {
  /** In no order; see `inOrder`. */
  readonly findings: readonly Finding[];
  /** How many configuration files were read. */
  readonly fileCount: number;
  /** What was asked for and is not there. */
  readonly missing: readonly string[];
}

/**
 * Looks at configurations. Nothing is changed and nothing is started.
 *
 * @example audit({ paths: ['/etc/cni/net.d'], files }).findings.map(({ what }) => what)
 */
export function audit(request: AuditRequest): Audited {
  const { subject, missing } = readSubject(request);
  const damaged = new Set(
    subject.files.flatMap(({ path, encoding }) => (encoding === 'damaged' || isInexact(path) ? path : [])),
  );
  const findings = onceEach(AUDIT_RULES.flatMap((rule) => [...rule.check(subject)])).map((finding) =>
    // To write the text back would replace the bytes that are no characters.
    touched(finding).some((file) => damaged.has(file)) ? withoutFix(finding) : finding,
  );
  return { findings, fileCount: subject.files.length, missing };
}

/** Two rules of a plugin may object to one value in the same words. */
function onceEach(findings: readonly Finding[]): readonly Finding[] {
  const told = new Map(
    findings.map((each) => [JSON.stringify([each.id, each.place, each.what, each.subject]), each]),
  );
  return [...told.values()];
}

function touched({ fix }: Finding): readonly string[] {
  return [...(fix?.edits ?? []).map(({ file }) => file), ...(fix?.rename ? [fix.rename.from] : [])];
}

/** Whether the name has bytes that are no UTF-8: under the name that is known here there is no file. */
function isInexact(path: string): boolean {
  return path.includes('\ufffd');
}

function withoutFix({ fix: _, ...finding }: Finding): Finding {
  return finding;
}

/** The types that networks name, delegates and IPAM plugins among them: what a look for executables is about. */
export function typesOf(request: AuditRequest): readonly string[] {
  const { subject } = readSubject(request);
  const parts = subject.networks.flatMap((network) => network.parts);
  return [...new Set(parts.flatMap(({ type, ipamType }) => [type ?? '', ipamType ?? '']))].filter(
    (type) => type !== '' && !type.includes('/'),
  );
}

function readSubject({ paths, files, options = {}, host, installed }: AuditRequest) {
  const missing: string[] = [];
  const directories: AuditedDirectory[] = [];
  const single: AuditedFile[] = [];
  for (const path of distinct(paths)) {
    const entries = files.list(path);
    if (Array.isArray(entries)) directories.push(readDirectory(files, path, entries));
    else if (typeof entries === 'string' && !entries.startsWith(NOT_A_DIRECTORY)) {
      directories.push({ path, unreadable: entries, files: [] });
    } else {
      const file = readAudited(files, path, isConfigPath(path) ? undefined : 'list');
      if (file === undefined) missing.push(path);
      else single.push(withSiblings(files, file));
    }
  }
  const listed = new Set(directories.flatMap((each) => each.files.map((file) => resolve(file.path))));
  const tops = [
    ...directories.flatMap((each) => each.files.filter(isConfiguration)),
    // One that is looked at with its directory would be told of twice.
    ...single.filter(({ path }) => !listed.has(resolve(path)) || !isConfigPath(path)),
  ];
  const siblings = tops.flatMap((file) => file.siblings ?? []);
  const networks: readonly Network[] = tops.flatMap(networksOf);
  const subject: Subject = {
    ...{ directories, files: [...tops, ...siblings], networks, options },
    ...(host !== undefined && { host }),
    ...(installed !== undefined && { installed }),
  };
  return { subject, missing };
}

/** Each path once, however it is spelled. */
function distinct(paths: readonly string[]): readonly string[] {
  const spelled = new Map(paths.toReversed().map((path) => [resolve(path), path]));
  return [...spelled.values()].toReversed();
}

/** How the answer to a listing of a file begins. */
export const NOT_A_DIRECTORY = 'not a directory';

function isConfiguration({ role }: AuditedFile): boolean {
  return role === 'list' || role === 'single';
}

function readDirectory(
  files: ReadFiles,
  path: string,
  entries: Exclude<ReturnType<ReadFiles['list']>, string | undefined>,
): AuditedDirectory {
  const read = entries
    .filter(({ name, kind }) => kind !== 'directory' && (kind === 'file' || isConfigPath(name)))
    .map(({ name }) => `${path.replace(/\/$/, '')}/${name}`)
    .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .flatMap((each): readonly AuditedFile[] => {
      const name = each.slice(each.lastIndexOf('/') + 1);
      // What is no configuration is known by its name alone: it may be large, or secret.
      if (!isConfigPath(each)) return [{ path: each, name, directory: path, role: 'other' }];
      const file = readAudited(files, each);
      return file === undefined ? [] : [withSiblings(files, file)];
    });
  return { path, files: read };
}

function withSiblings(files: ReadFiles, file: AuditedFile): AuditedFile {
  const siblings = siblingsOf(files, file);
  return siblings.length === 0 ? file : { ...file, siblings };
}

/** The plugins in the folder that is named for a list's network. */
function siblingsOf(files: ReadFiles, file: AuditedFile): readonly AuditedFile[] {
  const list = file.role === 'list' ? file.document?.object : undefined;
  const name = list?.['name'];
  if (typeof name !== 'string' || !SAFE_NAME.test(name) || list?.['loadOnlyInlinedPlugins'] === true)
    return [];
  const folder = `${file.directory}/${name}`;
  const entries = files.list(folder);
  if (!Array.isArray(entries)) return [];
  return entries
    .filter(({ name: each, kind }) => kind !== 'directory' && each.endsWith('.conf'))
    .map(({ name: each }) => `${folder}/${each}`)
    .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .flatMap((path) => readAudited(files, path, 'sibling') ?? []);
}

const SAFE_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

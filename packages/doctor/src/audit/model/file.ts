/** A file of a configuration directory, read as far as it can be. */
import { basename, dirname } from 'node:path';
import { isConfigPath, isListPath, MAX_DEPTH } from '@heddle/cni';
import { Document } from './document.ts';
import type { ReadFiles } from './ports.ts';

/** What a file is for, told by its name. A sibling lies in the folder that is named for a list's network. */
export type FileRole = 'list' | 'single' | 'sibling' | 'other';

/** A file that is audited. */
export interface AuditedFile {
  readonly path: string;
  /** The name without the directory. */
  readonly name: string;
  readonly directory: string;
  readonly role: FileRole;
  /** Why it cannot be read, in words. */
  readonly unreadable?: string;
  /** The encoding, where it is none that JSON may have. */
  readonly encoding?: Encoding;
  /** The text; nothing for a file that cannot be read. */
  readonly document?: Document;
  /** Of a list: the plugins in the folder that is named for its network. */
  readonly siblings?: readonly AuditedFile[];
}

/** An encoding that Go's decoder, and so every runtime, refuses; `damaged` is UTF-8 with bytes that are none. */
export type Encoding = 'UTF-16LE' | 'UTF-16BE' | 'byte order mark' | 'damaged';

/** Reads a file. `undefined` when it is gone: between listing and reading, somebody removed it. */
export function readAudited(files: ReadFiles, path: string, role = roleOf(path)): AuditedFile | undefined {
  const about = { path, name: basename(path), directory: dirname(path), role };
  const bytes = files.read(path);
  if (bytes === 'gone') return undefined;
  if (typeof bytes === 'string') return { ...about, unreadable: bytes };
  const { text, encoding } = decodeBytes(bytes);
  if (text.includes('\0')) return { ...about, unreadable: 'it is binary, and no text' };
  const document = documentOf(path, text);
  if (document === undefined)
    return { ...about, unreadable: `it is nested more than ${MAX_DEPTH} levels deep` };
  return { ...about, document, ...(encoding !== undefined && { encoding }) };
}

/** Nothing for a text that is nested too deep. */
function documentOf(path: string, text: string): Document | undefined {
  try {
    const document = new Document(path, text);
    return document.isTooDeep ? undefined : document;
  } catch (error) {
    // The parser goes down by recursion, and has no limit of its own.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The text of a file, whatever Unicode encoding it has. */
export function decodeBytes(bytes: Uint8Array): { readonly text: string; readonly encoding?: Encoding } {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first !== undefined && first !== 0 && second === 0)) {
    return { text: new TextDecoder('utf-16le').decode(bytes), encoding: 'UTF-16LE' };
  }
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== undefined && second !== 0)) {
    return { text: new TextDecoder('utf-16be').decode(bytes), encoding: 'UTF-16BE' };
  }
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  if (text.startsWith('\ufeff')) return { text, encoding: 'byte order mark' };
  return text.includes('\ufffd') && !isValidUtf8(bytes) ? { text, encoding: 'damaged' } : { text };
}

function roleOf(path: string): FileRole {
  if (isListPath(path)) return 'list';
  return isConfigPath(path) ? 'single' : 'other';
}

function isValidUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

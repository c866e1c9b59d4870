/**
 * What an interface was like before it was tuned, in a file, in the reference's place and bytes, so that either can
 * restore what the other tuned: `<data directory>/<container ID>_<interface>.json`.
 */

import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bool, CNI_CODE, CniError, decodeConfig, int } from '@heddle/cni';
import { makeDirectory } from '@heddle/sys';
import * as v from 'valibot';
import type { LinkSettings } from './config.ts';

/** A backup without its content. */
export interface BackupFile {
  /** The container; several where underscores make it unclear what is its ID, and what the interface's name. */
  readonly containerIDs: readonly string[];
  readonly path: string;
  /** When it was written; milliseconds since 1970. */
  readonly writtenAt: number;
}

/** Where the backup of an interface is. */
export function backupPath(directory: string, containerID: string, ifName: string): string {
  return join(directory, `${containerID}_${ifName}.json`);
}

/** The text of a file; `undefined` when there is none. @throws {CniError} code 5 when it cannot be read */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw failure('read', path, cause);
  }
}

/** What a backup says; `undefined` for a text that is no backup. */
export function parseBackup(text: string): LinkSettings | undefined {
  try {
    const { mac, promisc, mtu, allmulti, txQLen } = decodeConfig(backupSchema, text);
    return {
      ...(mac && { mac }),
      ...(promisc !== undefined && { promisc }),
      ...(mtu && { mtu }),
      ...(allmulti !== undefined && { allmulti }),
      ...(txQLen !== undefined && { txQLen }),
    };
  } catch {
    return undefined;
  }
}

/** A backup as the reference writes it. */
export function formatBackup({ mac, promisc, mtu, allmulti, txQLen }: LinkSettings): string {
  return JSON.stringify({ mac, promisc, mtu, allmulti, txQLen }, undefined, 1);
}

/**
 * Writes a backup, all of it or nothing. The directory is made, with the given mode, where it is missing.
 *
 * @throws {CniError} code 5
 */
export function writeText(directory: string, path: string, text: string, mode = 0o755): void {
  const unfinished = unfinishedPath(path);
  const write = () => writeFileSync(unfinished, text, { mode: 0o600 });
  try {
    try {
      write();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      makeDirectory(directory, mode);
      write();
    }
    renameSync(unfinished, path);
  } catch (cause) {
    rmSync(unfinished, { force: true });
    throw failure('write', path, cause);
  }
}

/** Removes a backup, and one that a killed ADD was about to write, if they are there. @throws {CniError} code 5 */
export function removeBackup(path: string): void {
  try {
    rmSync(path, { force: true });
    rmSync(unfinishedPath(path), { force: true });
  } catch (cause) {
    throw failure('remove', path, cause);
  }
}

/** All backups of a directory. @throws {CniError} code 5 when it cannot be read */
export function listBackups(directory: string): readonly BackupFile[] {
  try {
    return readdirSync(directory).flatMap((name) => backupFile(directory, name) ?? []);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw failure('read', directory, cause);
  }
}

function unfinishedPath(path: string): string {
  return `${path}.new`;
}

function backupFile(directory: string, name: string): BackupFile | undefined {
  const path = join(directory, name);
  const stat = name.endsWith('.json') ? statSync(path, { throwIfNoEntry: false }) : undefined;
  return stat === undefined ? undefined : { containerIDs: ownersIn(name), path, writtenAt: stat.mtimeMs };
}

function ownersIn(name: string): readonly string[] {
  const parts = name.slice(0, -'.json'.length).split('_');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('_'));
}

const backupSchema = v.object({
  mac: v.optional(v.string()),
  promisc: v.optional(bool),
  mtu: v.optional(int()),
  allmulti: v.optional(bool),
  txQLen: v.optional(int()),
});

function failure(verb: string, path: string, cause: unknown): CniError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new CniError(CNI_CODE.IO_FAILURE, `${verb} the backup ${path}: ${why}`, { cause });
}

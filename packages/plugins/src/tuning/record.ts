/**
 * What the backup cannot say, in a file of our own: which network an attachment is of, and what its kernel parameters
 * were. `<data directory>/heddle/<network>/<container ID>_<interface>.json`; the reference looks at none of it.
 */

import { readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { type AttachmentId, decodeConfig } from '@heddle/cni';
import * as v from 'valibot';
import { backupPath, readText, removeBackup, writeText } from './backup.ts';

/** See the file's comment. */
export interface TuningRecord {
  readonly containerID: string;
  readonly ifName: string;
  /** Values before, by their paths below /proc/sys. */
  readonly sysctls: Readonly<Record<string, string>>;
}

const schema = v.object({
  containerID: v.string(),
  ifName: v.string(),
  sysctls: v.record(v.string(), v.string()),
});

/** The record of an attachment; `undefined` when there is none that can be read. @throws {CniError} code 5 */
export function readRecord(dataDir: string, attachment: AttachmentId): TuningRecord | undefined {
  return parsed(readText(pathOf(dataDir, attachment)));
}

/** Writes it, all or nothing. @throws {CniError} code 5 */
export function writeRecord(
  dataDir: string,
  attachment: AttachmentId,
  sysctls: TuningRecord['sysctls'],
): void {
  const { containerID, ifName } = attachment;
  const directory = directoryOf(dataDir, attachment.network);
  const text = JSON.stringify({ containerID, ifName, sysctls });
  writeText(directory, pathOf(dataDir, attachment), text, 0o700);
}

/** Removes it, if it is there, and the network's directory with the last one. @throws {CniError} code 5 */
export function removeRecord(dataDir: string, attachment: AttachmentId): void {
  removeBackup(pathOf(dataDir, attachment));
  try {
    rmdirSync(directoryOf(dataDir, attachment.network));
  } catch {
    // Others are in it, or it is gone.
  }
}

/** All records of a network. @throws {CniError} code 5 when one cannot be read */
export function listRecords(dataDir: string, network: string): readonly TuningRecord[] {
  const directory = directoryOf(dataDir, network);
  return namesIn(directory)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => parsed(readText(join(directory, name))) ?? []);
}

function directoryOf(dataDir: string, network: string): string {
  return join(dataDir, 'heddle', network);
}

function pathOf(dataDir: string, { network, containerID, ifName }: AttachmentId): string {
  return backupPath(directoryOf(dataDir, network), containerID, ifName);
}

function parsed(text: string | undefined): TuningRecord | undefined {
  try {
    return text === undefined ? undefined : decodeConfig(schema, text);
  } catch {
    return undefined;
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

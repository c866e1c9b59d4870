/**
 * Addresses that are to be given back, and could not be yet: a file for each attachment. Whoever takes a pod down must
 * not be kept from it because the node's agent, or the cluster's store, is away.
 */
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory, sha512 } from '@heddle/sys';
import * as v from 'valibot';
import { ClusterError } from './cluster-error.ts';
import { type Attachment, attachmentHandle } from './port.ts';

const schema = v.object({ network: v.string(), containerID: v.string(), ifName: v.string() });

/** See the file's comment. */
export class WaitingReleases {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** Notes an attachment. @throws {ClusterError} CLUSTER_WAITING */
  add({ network, containerID, ifName }: Attachment): void {
    const path = this.#path({ network, containerID, ifName });
    const unfinished = `${path}${UNFINISHED}`;
    try {
      makeDirectory(this.directory, 0o700);
      this.#removeUnfinished();
      const text = JSON.stringify({ network, containerID, ifName });
      writeFileSync(unfinished, text, { mode: 0o600, flush: true });
      renameSync(unfinished, path);
    } catch (cause) {
      rmSync(unfinished, { force: true });
      throw failure(`note that ${path} waits`, cause);
    }
  }

  /** Forgets an attachment: its addresses were given back, or it is being added anew. */
  remove(attachment: Attachment): void {
    try {
      const path = this.#path(attachment);
      rmSync(path, { force: true });
      // What a process that was killed was about to note.
      rmSync(`${path}${UNFINISHED}`, { force: true });
    } catch (cause) {
      throw failure('forget what waits', cause);
    }
  }

  /** Whether the attachment's addresses are still to be given back. */
  has(attachment: Attachment): boolean {
    return this.#names().includes(nameOf(attachment));
  }

  /** What processes that were killed while they noted it have left; what is younger, somebody may be writing. */
  tidy(): void {
    try {
      this.#removeUnfinished();
    } catch (cause) {
      throw failure('tidy up what waits', cause);
    }
  }

  /** All of them. A file that says something else is none of ours, and is passed over. */
  list(): readonly Attachment[] {
    return this.#names().flatMap((name) => this.#read(name) ?? []);
  }

  #removeUnfinished(): void {
    for (const name of this.#entries()) {
      if (!name.endsWith(`${ENDING}${UNFINISHED}`)) continue;
      const path = join(this.directory, name);
      const status = statSync(path, { throwIfNoEntry: false });
      if (status === undefined || Date.now() - status.mtimeMs < LEFT_AFTER) continue;
      rmSync(path, { force: true });
    }
  }

  #names(): readonly string[] {
    try {
      return this.#entries().filter((name) => name.endsWith(ENDING));
    } catch (cause) {
      throw failure('list what waits', cause);
    }
  }

  #entries(): readonly string[] {
    try {
      return readdirSync(this.directory);
    } catch (cause) {
      if (isMissing(cause)) return [];
      throw cause;
    }
  }

  #read(name: string): Attachment | undefined {
    let text: string;
    try {
      text = readFileSync(join(this.directory, name), 'utf8');
    } catch (cause) {
      // Done just now.
      if (isMissing(cause)) return undefined;
      throw failure(`read ${name}`, cause);
    }
    try {
      const attachment = v.parse(schema, JSON.parse(text));
      return nameOf(attachment) === name ? attachment : undefined;
    } catch {
      return undefined;
    }
  }

  #path(attachment: Attachment): string {
    return join(this.directory, nameOf(attachment));
  }
}

const ENDING = '.give';
const UNFINISHED = '.new';
/** Nobody notes one thing for so long; milliseconds. */
const LEFT_AFTER = 3_600_000;

/** Names of containers may be longer than those of files. */
function nameOf(attachment: Attachment): string {
  return `${sha512(attachmentHandle(attachment)).slice(0, 32)}${ENDING}`;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function failure(what: string, cause: unknown): ClusterError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ClusterError('CLUSTER_WAITING', `${what}: ${why}`, { cause });
}

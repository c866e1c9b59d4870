/**
 * DELs that were asked for while nobody could do them: one file each, as the shim leaves them. The agent does them
 * before anything else; the runtime was told that they are done.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HeddleError } from '@heddle/errors';
import { parseJson } from '../index.ts';
import type { Operation } from '../plugin/index.ts';
import { type Handover, readHandover } from './handover.ts';
import { ioFailure, isMissing } from './io-failure.ts';

/** A DEL that waits. */
export interface QueuedDel {
  readonly path: string;
  readonly call: Handover;
}

/** What is in the directory's files, and what could not be read. */
export interface QueueContents {
  /** In the order in which they were asked for. */
  readonly dels: readonly QueuedDel[];
  readonly broken: readonly { readonly path: string; readonly error: unknown }[];
}

/** The directory that the shim leaves DELs in; one that is not there is empty. */
export class DelQueue {
  readonly #directory: string;

  /** @param directory by default the one that is compiled into the shim */
  constructor(directory = '/var/lib/heddle/queue') {
    this.#directory = directory;
  }

  /** Where it is. */
  get directory(): string {
    return this.#directory;
  }

  /** All that waits now. */
  read(): QueueContents {
    const dels: QueuedDel[] = [];
    const broken: { path: string; error: unknown }[] = [];
    for (const path of this.#paths()) {
      try {
        dels.push({ path, call: readHandover(readFileSync(path)) });
      } catch (error) {
        // Done, or voided, by somebody else just now.
        if (!isMissing(error)) broken.push({ path, error });
      }
    }
    return { dels: dels.toSorted((a, b) => (a.call.time < b.call.time ? -1 : 1)), broken };
  }

  /** Voids the DELs of one plugin for an attachment: it is being added anew, so they came too late. */
  forget({ type, attachment }: Omit<Operation, 'command'>): void {
    const { network, containerID, ifName } = attachment;
    for (const { path, call } of this.read().dels) {
      const { CNI_CONTAINERID, CNI_IFNAME } = call.env;
      if (call.type !== type || CNI_CONTAINERID !== containerID || CNI_IFNAME !== ifName) continue;
      if (networkOf(call) === network) this.remove(path);
    }
  }

  /** Takes one out. */
  remove(path: string): void {
    rmSync(path, { force: true });
  }

  #paths(): readonly string[] {
    try {
      return readdirSync(this.#directory)
        .filter((name) => name.endsWith('.del'))
        .map((name) => join(this.#directory, name));
    } catch (error) {
      if (isMissing(error)) return [];
      throw ioFailure('list the waiting DELs', error);
    }
  }
}

function networkOf({ stdin }: Handover): unknown {
  try {
    const config = parseJson(new TextDecoder().decode(stdin), { what: 'waiting DEL' });
    return (config as { readonly name?: unknown } | null)?.name;
  } catch (error) {
    if (error instanceof HeddleError) return undefined;
    throw error;
  }
}

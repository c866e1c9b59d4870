/**
 * Leases that outlive the daemon: one file each, written under another name and then renamed, so that a reader finds
 * all of it or nothing.
 */

import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '@heddle/sys';
import * as v from 'valibot';
import type { Lease } from '../client/lease.ts';
import type { Identity } from '../client/ports.ts';
import { DhcpError } from '../dhcp-error.ts';
import type { Place } from '../kernel/interface.ts';
import { bytesToJson, codesSchema, leaseSchema, ownerSchema, rawOptionSchema } from './lease-json.ts';
import { type LeaseOwner, ownerFile } from './owner.ts';

/** A lease with everything that is needed to go on keeping it, or to give it back. */
export interface StoredLease {
  /** The run of the machine in which it was written: clocks and namespaces do not outlive it. */
  readonly boot: string;
  readonly owner: LeaseOwner;
  readonly place: Place;
  readonly identity: Identity;
  readonly lease: Lease;
}

/** Where leases are kept. */
export interface LeaseStore {
  /** What is there. Files that cannot be read are told of and passed over. */
  list(): readonly StoredLease[];
  find(owner: LeaseOwner): StoredLease | undefined;
  /** @throws {DhcpError} DHCP_STORE */
  save(stored: StoredLease): void;
  /** @throws {DhcpError} DHCP_STORE */
  remove(owner: LeaseOwner): void;
  /** Removes what a daemon that was killed left unfinished. @throws {DhcpError} DHCP_STORE */
  tidy(): void;
}

/** The directory of the daemon of a socket: daemons that run side by side keep theirs apart. */
export function leaseDirectory(stateDir: string, socketPath: string): string {
  return join(stateDir, encodeURIComponent(socketPath));
}

/**
 * The store in a directory, which is made for the first lease.
 *
 * @param log hears of files that cannot be read
 */
export function fileLeaseStore(directory: string, log: (message: string) => void): LeaseStore {
  const read = (name: string): StoredLease | undefined => {
    const path = join(directory, name);
    try {
      return v.parse(storedSchema, JSON.parse(readFileSync(path, 'utf8')));
    } catch (error) {
      if (isMissing(error)) return undefined;
      log(`${path} holds no lease: ${textOf(error)}`);
      return undefined;
    }
  };
  return {
    list: () => namesIn(directory, '.json').flatMap((name) => read(name) ?? []),
    find: (owner) => read(ownerFile(owner)),
    save(stored) {
      const path = join(directory, ownerFile(stored.owner));
      attempt(`save the lease in ${path}`, () => {
        makeDirectory(directory, 0o700);
        try {
          writeFileSync(`${path}.new`, `${JSON.stringify(toJson(stored), undefined, 2)}\n`, { mode: 0o600 });
          renameSync(`${path}.new`, path);
        } catch (error) {
          // What a full disk has taken in stays there, and nobody would look for it before the daemon starts again.
          attempt(`remove the unfinished ${path}.new`, () => rmSync(`${path}.new`, { force: true }));
          throw error;
        }
      });
    },
    remove(owner) {
      const path = join(directory, ownerFile(owner));
      attempt(`remove the lease in ${path}`, () => rmSync(path, { force: true }));
    },
    tidy() {
      for (const name of namesIn(directory, '.json.new')) {
        const path = join(directory, name);
        attempt(`remove the unfinished ${path}`, () => rmSync(path, { force: true }));
      }
    },
  };
}

const storedSchema = v.object({
  boot: v.string(),
  owner: ownerSchema,
  place: v.object({ netns: v.string(), identity: v.string(), ifName: v.string(), index: v.number() }),
  identity: v.object({
    clientId: rawOptionSchema.entries.data,
    provide: v.array(rawOptionSchema),
    parameters: codesSchema,
    broadcast: v.boolean(),
  }),
  lease: leaseSchema,
});

function toJson({ identity, ...rest }: StoredLease): unknown {
  return {
    ...rest,
    identity: {
      ...identity,
      clientId: bytesToJson(identity.clientId),
      provide: identity.provide.map(({ code, data }) => ({ code, data: bytesToJson(data) })),
    },
  };
}

function namesIn(directory: string, ending: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(ending));
  } catch (error) {
    if (isMissing(error)) return [];
    throw new DhcpError('DHCP_STORE', `list the leases in ${directory}: ${textOf(error)}`, { cause: error });
  }
}

function attempt(what: string, run: () => void): void {
  try {
    run();
  } catch (error) {
    throw new DhcpError('DHCP_STORE', `${what}: ${textOf(error)}`, { cause: error });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

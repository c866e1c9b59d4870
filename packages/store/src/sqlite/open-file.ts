/** Opens the file, makes it where there is none, and refuses what is not a store of ours. */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../store-error.ts';

/** In the file's header: "Hddl". */
const APPLICATION = 0x4864646c;
/** The version of the tables below. */
const VERSION = 1;

/** Milliseconds that SQLite itself waits for a lock, during which the whole process stands still. */
const LOCK_WAIT = 20;

/** @throws {StoreError} STORE_CORRUPT for a file that is something else; SQLite's errors as they are */
export function openFile(path: string): DatabaseSync {
  makeFile(path);
  const database = new DatabaseSync(path, { timeout: LOCK_WAIT });
  try {
    refuseForeign(database, path);
    // After a power cut the last commits may be missing, but so are the pods that they were about.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    database.exec('BEGIN IMMEDIATE');
    try {
      database.exec(TABLES);
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite makes files that everybody can read; who may see the store may see who runs where. */
function makeFile(path: string): void {
  try {
    const directory = dirname(path);
    if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreError('STORE_UNAVAILABLE', `open the store ${path}: ${reason}`, { cause: error });
  }
}

function refuseForeign(database: DatabaseSync, path: string): void {
  const { n: tables } = database.prepare('SELECT count(*) AS n FROM sqlite_schema').get() as { n: number };
  if (tables === 0) return;
  const { application_id: application } = database.prepare('PRAGMA application_id').get() as {
    application_id: number;
  };
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (application !== APPLICATION) {
    throw new StoreError('STORE_CORRUPT', `open the store ${path}: this is a database of another program`);
  }
  if (version > VERSION) {
    throw new StoreError(
      'STORE_CORRUPT',
      `open the store ${path}: its format has version ${version}, and this program knows ${VERSION}`,
      { hint: 'use the release that made it, or a newer one' },
    );
  }
}

const TABLES = `
PRAGMA application_id = ${APPLICATION};
PRAGMA user_version = ${VERSION};
CREATE TABLE IF NOT EXISTS entry (
  key TEXT PRIMARY KEY, value TEXT NOT NULL, created INTEGER NOT NULL, revision INTEGER NOT NULL, lease INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entry_lease ON entry (lease) WHERE lease IS NOT NULL;
CREATE TABLE IF NOT EXISTS change (
  revision INTEGER NOT NULL, key TEXT NOT NULL, value TEXT, created INTEGER, lease INTEGER,
  PRIMARY KEY (revision, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lease (
  id INTEGER PRIMARY KEY AUTOINCREMENT, seconds INTEGER NOT NULL, boot TEXT NOT NULL, ends INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS moment (
  only INTEGER PRIMARY KEY CHECK (only = 1), revision INTEGER NOT NULL, oldest INTEGER NOT NULL
) STRICT;
INSERT OR IGNORE INTO moment VALUES (1, 0, 0);
`;

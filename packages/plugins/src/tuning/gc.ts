/**
 * GC: removes backups of containers that are no more. A record of ours says which network an attachment is of. A backup
 * alone, as the reference leaves it, does not, so the attachments of one network do not tell whether it is stale.
 */
import { readdirSync } from 'node:fs';
import type { GcCall } from '@heddle/cni/plugin';
import { backupPath, listBackups, removeBackup } from './backup.ts';
import type { TuningConfig } from './config.ts';
import { dataDirOf, type Places } from './places.ts';
import { listRecords, removeRecord } from './record.ts';

/**
 * A backup is stale when its container has no valid attachment here and is not in the runtime's result cache, whichever
 * the network and interface, and when it is too old for an ADD that is still under way elsewhere. Without a cache
 * nothing is known, and nothing is removed.
 */
export async function gc(call: GcCall<TuningConfig>, places: Places): Promise<void> {
  const { config, clock, teardown } = call;
  await teardown.step('remove what stale attachments have left', () =>
    collect(call, dataDirOf(config, places)),
  );
  await teardown.step('remove stale backups', async () => {
    const cached = namesIn(`${places.cacheDir}/results`);
    if (cached === undefined) return;
    const isCached = (containerID: string) => cached.some((name) => name.includes(`-${containerID}-`));
    const files = listBackups(dataDirOf(config, places)).filter(
      ({ writtenAt, containerIDs }) => clock.now() - writtenAt > HOUR_MS && !containerIDs.some(isCached),
    );
    const stale = await call.stale(
      async () => [...new Set(files.flatMap(({ containerIDs }) => containerIDs))],
      (containerID) => ({ containerID }),
    );
    for (const { path, containerIDs } of files) {
      if (!containerIDs.every((containerID) => stale.includes(containerID))) continue;
      await teardown.step(`remove ${path}`, () => removeBackup(path));
    }
  });
}

async function collect(call: GcCall<TuningConfig>, dataDir: string): Promise<void> {
  const { network, teardown } = call;
  const stale = await call.stale(
    async () => listRecords(dataDir, network),
    ({ containerID, ifName }) => ({ containerID, ifName }),
  );
  for (const { containerID, ifName } of stale) {
    const path = backupPath(dataDir, containerID, ifName);
    await teardown.step(`remove ${path}`, () => removeBackup(path));
    const attachment = { network, containerID, ifName };
    await teardown.step(`remove the record of ${containerID}`, () => removeRecord(dataDir, attachment));
  }
}

function namesIn(directory: string): readonly string[] | undefined {
  try {
    return readdirSync(directory);
  } catch {
    return undefined;
  }
}

const HOUR_MS = 3_600_000;

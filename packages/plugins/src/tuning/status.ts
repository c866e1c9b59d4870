/** STATUS: whether an ADD would find what it needs. */
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { UnavailableError } from '@heddle/cni';
import type { StatusCall } from '@heddle/cni/plugin';
import { requireAllowed } from './allowlist.ts';
import { changesLink, checkLinkSettings, refuseDuplicates, settingsOf, type TuningConfig } from './config.ts';
import { dataDirOf, type Places } from './places.ts';
import { sysctlsByPath } from './sysctl-path.ts';

/**
 * @throws {ConfigError} for what no ADD could do
 * @throws {UnavailableError} code 50 when there is no place for backups
 */
export async function status({ config, stdin }: StatusCall<TuningConfig>, places: Places): Promise<void> {
  refuseDuplicates(stdin);
  const settings = settingsOf(config, undefined);
  requireAllowed(settings.sysctls.keys(), places.allowlist);
  // Any name will do: the interface is not known yet.
  sysctlsByPath(settings.sysctls, 'eth0');
  checkLinkSettings(settings.link);
  if (changesLink(settings)) requireWritable(dataDirOf(config, places));
}

function requireWritable(directory: string): void {
  try {
    accessSync(nearest(directory), constants.W_OK | constants.X_OK);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UnavailableError('NOT_READY', `backups cannot be written: ${why}`, { cause });
  }
}

/** The directory, or the nearest one above, in which it can be made. */
function nearest(directory: string): string {
  return existsSync(directory) || dirname(directory) === directory ? directory : nearest(dirname(directory));
}

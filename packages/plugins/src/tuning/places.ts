/** Where tuning finds its files. */
import type { TuningConfig } from './config.ts';

/** Files and directories that the configuration does not name. */
export interface Places {
  /** Where backups are kept unless `dataDir` says otherwise. */
  readonly dataDir: string;
  /** The list of kernel parameters that may be set. */
  readonly allowlist: string;
  /** Where the runtime remembers its attachments. */
  readonly cacheDir: string;
}

/** Where this configuration's backups are. */
export function dataDirOf({ dataDir }: TuningConfig, places: Places): string {
  return dataDir === '' ? places.dataDir : dataDir;
}

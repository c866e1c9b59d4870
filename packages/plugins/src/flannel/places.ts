/** Where flannel finds its files. */
import type { BaseCall } from '@heddle/cni/plugin';
import type { FlannelConfig } from './config.ts';
import { SavedConfigs } from './saved-config.ts';

/** Files and directories that the configuration does not name. */
export interface Places {
  /** What Flannel's daemon writes, unless `subnetFile` says otherwise. */
  readonly subnetFile: string;
  /** Where configurations are kept unless `dataDir` says otherwise. */
  readonly dataDir: string;
}

type Call = Pick<BaseCall<FlannelConfig>, 'config'>;

/** The daemon's file. */
export function subnetFileOf({ config }: Call, { subnetFile }: Places): string {
  return config.subnetFile === '' ? subnetFile : config.subnetFile;
}

/** The configurations that were given to delegates. */
export function savedConfigsOf({ config }: Call, { dataDir }: Places): SavedConfigs {
  return new SavedConfigs(config.dataDir === '' ? dataDir : config.dataDir);
}

/** Which plugins are installed, and which versions they speak. */
import { CniError } from '@heddle/cni';
import { findPlugin, type Runtime } from '@heddle/cni/runtime';
import type { InstalledPlugin, InstalledPlugins } from '@heddle/doctor';

/** How long a plugin may take to say its versions, in milliseconds. */
const PATIENCE = 5000;

/**
 * Looks for the plugins and asks each for its versions; VERSION changes nothing.
 *
 * @param types the types to look for; any other is looked for without being asked
 */
export async function readInstalled(
  runtime: Runtime,
  { directories, readers }: Pick<InstalledPlugins, 'directories' | 'readers'>,
  types: readonly string[],
): Promise<InstalledPlugins> {
  const found = await Promise.all(
    types.map(async (type): Promise<readonly [string, InstalledPlugin]> => {
      const plugin = look(type, directories);
      if (plugin.path === undefined) return [type, plugin];
      const versions = await versionsOf(runtime, type);
      return [type, { ...plugin, ...(versions !== undefined && { versions }) }];
    }),
  );
  const asked = new Map(found);
  return {
    directories,
    ...(readers !== undefined && { readers }),
    find(type, among) {
      return among === undefined ? (asked.get(type) ?? look(type, directories)) : look(type, among);
    },
  };
}

function look(type: string, directories: readonly string[]): InstalledPlugin {
  try {
    return findPlugin(type, directories);
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    return {
      obstacles: error.cniDetails === undefined ? [] : error.cniDetails.split('; ').filter(isObstacle),
    };
  }
}

/** What is in the way is told by its path; a guess at what was meant is not. */
function isObstacle(text: string): boolean {
  return text.includes('/');
}

/** Nothing when the plugin does not answer: that is for `heddle doctor` to tell. */
async function versionsOf(runtime: Runtime, type: string): Promise<readonly string[] | undefined> {
  try {
    const versions = await runtime.version(type, { signal: AbortSignal.timeout(PATIENCE) });
    return 'supportedVersions' in versions ? versions.supportedVersions : undefined;
  } catch {
    return undefined;
  }
}

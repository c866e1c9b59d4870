/** Which plugins are installed, and which versions they speak. */
import { CniError } from '@heddle/cni';
import { findPlugin, type Runtime } from '@heddle/cni/runtime';
import { type InstalledPlugin, type InstalledPlugins, notStarted } from '@heddle/doctor';

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
      const answer = await askVersions(runtime, type);
      // What cannot be started is as good as none.
      if (typeof answer === 'string') return [type, { obstacles: [`${plugin.path}: ${answer}`] }];
      return [type, { ...plugin, ...(answer !== undefined && { versions: answer }) }];
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

/**
 * The versions, or why the kernel does not start it: a program for another processor is found by name. Nothing when the
 * plugin does not answer: that is for `heddle doctor` to tell.
 */
async function askVersions(runtime: Runtime, type: string): Promise<readonly string[] | string | undefined> {
  try {
    const versions = await runtime.version(type, { signal: AbortSignal.timeout(PATIENCE) });
    return 'supportedVersions' in versions ? versions.supportedVersions : notStarted(versions.unknown);
  } catch (error) {
    return notStarted(error);
  }
}

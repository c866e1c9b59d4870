/** Plugins that are installed, and not where the runtime of pods looks. */
import { CniError, type NetworkConfigList } from '@heddle/cni';
import { defaultNetwork, findPlugin } from '@heddle/cni/runtime';
import { PROFILES } from '../explain/runtimes.ts';
import type { Finding } from '../finding.ts';
import type { NodeView } from '../node/view.ts';
import { delegatesOf } from '../programs/delegates.ts';
import { found } from '../rule.ts';
import { doctorRule, type NodeCheck } from './check.ts';

const outOfReach = doctorRule({
  id: 'program/out-of-reach',
  severity: 'error',
  title: 'A plugin is installed where the runtime of pods does not look',
  explains:
    'Each runtime has plugin directories of its own: what Podman finds in `/usr/lib/cni`, containerd with its one `bin_dir` does not. Told of plugins of the network that pods get, where the configuration of containerd or CRI-O says where it looks.',
});

/** See the file's comment. */
export const outOfReachCheck: NodeCheck = {
  rules: [outOfReach],
  look({ ports: { places }, networks }) {
    const list = networkOfPods(places.configDir);
    if (list === undefined || list.name === PROFILES.podman.usualNetwork) return [];
    // Somebody else's, when only one network is looked at.
    if (!networks.networks.some(({ path }) => path === list.file)) return [];
    const types = [
      ...new Set(
        list.plugins.flatMap((plugin) => [plugin.type, ...delegatesOf(plugin).map(({ type }) => type)]),
      ),
    ];
    return (places.pluginReaders ?? []).flatMap(({ runtime, directories, setting }): readonly Finding[] => {
      const lacking = types.flatMap((type) => {
        const path = pathOf(type, places.pluginPath);
        return path === undefined || pathOf(type, directories) !== undefined ? [] : [{ type, path }];
      });
      if (lacking.length === 0) return [];
      const names = lacking.map(({ type }) => type).join(', ');
      return [
        found(outOfReach, {
          ...(list.file !== undefined && { place: { file: list.file } }),
          subject: `plugin${lacking.length === 1 ? '' : 's'} ${names}`,
          what: `${runtime} looks for plugins in ${directories.join(', ')} only, and there is no ${names}`,
          consequence: `No pod that ${runtime} starts can be attached to ${list.name}.`,
          remedy: `install ${names} in ${directories[0]}, or have ${runtime} look there, too (${setting})`,
          evidence: lacking.map(({ path }) => `${path} is there`),
        }),
      ];
    });
  },
};

function networkOfPods(directory: string): NetworkConfigList | undefined {
  try {
    return defaultNetwork(directory).list;
  } catch {
    // That there is none is told by others.
    return undefined;
  }
}

function pathOf(type: string, directories: NodeView['ports']['places']['pluginPath']): string | undefined {
  try {
    return findPlugin(type, directories).path;
  } catch (error) {
    if (error instanceof CniError) return undefined;
    throw error;
  }
}

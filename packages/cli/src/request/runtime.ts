/** The runtime and the networks that a command works with. */
import { agentPlace } from '@heddle/agent';
import type { NetworkConfigList } from '@heddle/cni';
import { type Plugin, type PluginHost, serve } from '@heddle/cni/plugin';
import {
  type Attachment,
  agentExec,
  FileLocks,
  inProcessExec,
  loadNetwork,
  type PluginExec,
  Runtime,
  systemExec,
  systemPluginHost,
} from '@heddle/cni/runtime';
import { PLUGINS } from '@heddle/plugins';
import { unclaimedCapabilities } from '../network/unclaimed-capabilities.ts';
import { unknownMembers } from '../network/unknown-members.ts';
import type { Surroundings } from '../surroundings.ts';
import { configDir } from './environment.ts';
import { pluginDirectories } from './plugin-directories.ts';

/** The flags of commands that run plugins. */
export interface RuntimeFlags {
  readonly cacheDir?: string | undefined;
  readonly inProcess?: boolean | undefined;
}

/** How those flags are declared. */
export const RUNTIME_FLAGS = {
  cacheDir: {
    kind: 'parsed',
    parse: String,
    brief: "the runtime's cache (default /var/lib/cni)",
    placeholder: 'dir',
    optional: true,
  },
  inProcess: {
    kind: 'boolean',
    brief: "run Heddle's own plugins inside this process, where the network names them",
    optional: true,
    withNegated: false,
  },
} as const;

/** The runtime for one command. */
export function runtimeOf(surroundings: Surroundings, flags: RuntimeFlags): Runtime {
  const { env, places, stderr } = surroundings;
  const onWarning = (message: string): void => warn(surroundings, message);
  const executables = systemExec({ onWarning });
  return new Runtime({
    path: pluginDirectories(surroundings),
    env,
    cacheDir: flags.cacheDir ?? places.cacheDir,
    locks: new FileLocks(places.lockDir),
    exec:
      flags.inProcess === true
        ? withOwnPlugins(surroundings, executables)
        : agentExec({ socket: agentPlace('socket', env), otherwise: executables }),
    onWarning,
    onStderr: (text) => stderr.write(text),
  });
}

/**
 * The network of that name. Files that had to be passed over, or have no effect, are warned of.
 *
 * @throws {NetworkNotFoundError|ConfigError} when there is none, or it is not valid
 */
export function networkOf(surroundings: Surroundings, name: string): NetworkConfigList {
  const { list, path, broken, shadowed } = loadNetwork(configDir(surroundings), name);
  for (const { error } of broken) {
    warn(surroundings, `passed over: ${error instanceof Error ? error.message : String(error)}`);
  }
  for (const hidden of shadowed) {
    warn(surroundings, `${hidden} has no effect: ${path} defines network "${name}" already`);
  }
  return list;
}

/** Warns of what is written for a network, or said of an attachment, and will have no effect. */
export function warnOfNetwork(
  surroundings: Surroundings,
  list: NetworkConfigList,
  { capabilityArgs = {} }: Pick<Attachment, 'capabilityArgs'> = {},
): void {
  const sentences = [...unknownMembers(list), ...unclaimedCapabilities(list, capabilityArgs)];
  for (const sentence of sentences) warn(surroundings, sentence);
}

/** Tells something worth knowing that is no failure. */
export function warn({ stderr }: Pick<Surroundings, 'stderr'>, message: string): void {
  stderr.write(`heddle: warning: ${message}\n`);
}

function withOwnPlugins(surroundings: Surroundings, otherwise: PluginExec): PluginExec {
  const host = ownHost(surroundings, PLUGINS);
  return inProcessExec(
    {
      has: (type) => PLUGINS.has(type),
      serve: async (type, invocation) => await serve(PLUGINS.get(type) as Plugin, invocation, host),
    },
    otherwise,
  );
}

/** Plugins inside this process find each other here too, installed or not. */
function ownHost(surroundings: Surroundings, plugins: ReadonlyMap<string, Plugin>): PluginHost {
  const { places, stderr, openHost } = surroundings;
  const system = systemPluginHost({ marks: places.markDir, onStderr: (text) => stderr.write(text) });
  return {
    ...system,
    openSession: (netns) => (netns === undefined ? openHost() : system.openSession(netns)),
    findPlugin: (type, path) => (plugins.has(type) ? type : system.findPlugin(type, path)),
    inProcess: (type) => plugins.get(type),
  };
}

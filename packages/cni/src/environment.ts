/**
 * The environment of a plugin invocation: which variables each command needs, and what they say.
 * The same rules, order and texts as the reference's plugin skeleton. An unknown command passes here: the
 * configuration is looked at before the command is (see {@link knownCommand}).
 */
import { validateContainerId, validateIfName } from './attachment.ts';
import { UsageError } from './errors.ts';

/** The commands of the specification, as CNI_COMMAND spells them. */
export const COMMANDS = ['ADD', 'CHECK', 'DEL', 'GC', 'STATUS', 'VERSION'] as const;

/** What a plugin is asked to do. */
export type Command = (typeof COMMANDS)[number];

/** What the environment of an invocation says. Texts that are not set are empty. */
export interface Invocation {
  /** CNI_COMMAND as it is; {@link knownCommand} makes it a {@link Command}. */
  readonly command: string;
  readonly containerID: string;
  /** CNI_NETNS: the path of the container's network namespace. */
  readonly netns: string;
  readonly ifName: string;
  /** CNI_ARGS, unparsed: most plugins ignore it, even when it is malformed. */
  readonly args: string;
  /** The directories of CNI_PATH; empty elements are left out. */
  readonly path: readonly string[];
  /** CNI_NETNS_OVERRIDE: the container's namespace may be the plugin's own. */
  readonly netnsOverride: boolean;
}

/**
 * Reads and checks the environment of an invocation.
 *
 * @throws {UsageError} code 4: a value is not valid, or `required env variables [A,B] missing`.
 */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Invocation {
  const get = (name: string): string => env[name] ?? '';
  const command = get('CNI_COMMAND');
  const missing: string[] = [];
  for (const { name, neededBy, validate } of VARIABLES) {
    const needed = neededBy === 'always' || neededBy.includes(command);
    if (!needed) continue;
    if (get(name) === '') missing.push(name);
    else validate?.(get(name));
  }
  if (missing.length > 0) {
    throw new UsageError(`required env variables [${missing.join(',')}] missing`, { code: 'ENV_MISSING' });
  }
  return {
    command,
    containerID: get('CNI_CONTAINERID'),
    netns: get('CNI_NETNS'),
    ifName: get('CNI_IFNAME'),
    args: get('CNI_ARGS'),
    path: splitPath(get('CNI_PATH')),
    netnsOverride: ['1', 'true'].includes(get('CNI_NETNS_OVERRIDE').toLowerCase()),
  };
}

/** @throws {UsageError} code 4 for a command that the specification does not have; letter case matters. */
export function knownCommand(command: string): Command {
  const known = COMMANDS.find((name) => name === command);
  if (known === undefined) throw new UsageError(`unknown CNI_COMMAND: ${command}`);
  return known;
}

/** The directories of a `:`-separated list. An empty element never means the current directory. */
export function splitPath(path: string): readonly string[] {
  return path.split(':').filter((directory) => directory !== '');
}

interface Variable {
  readonly name: string;
  readonly neededBy: 'always' | readonly string[];
  readonly validate?: (value: string) => void;
}

const VARIABLES: readonly Variable[] = [
  { name: 'CNI_COMMAND', neededBy: 'always' },
  { name: 'CNI_CONTAINERID', neededBy: ['ADD', 'CHECK', 'DEL'], validate: validateContainerId },
  { name: 'CNI_NETNS', neededBy: ['ADD', 'CHECK'] },
  { name: 'CNI_IFNAME', neededBy: ['ADD', 'CHECK', 'DEL'], validate: validateIfName },
  { name: 'CNI_PATH', neededBy: ['ADD', 'CHECK', 'DEL', 'GC', 'STATUS'] },
];

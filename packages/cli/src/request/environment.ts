/**
 * What the environment says about a call, with cnitool's variables and meanings: NETCONFPATH, CAP_ARGS, CNI_ARGS,
 * CNI_IFNAME. See `pluginDirectories` for CNI_PATH.
 */
import {
  type CniArgs,
  isJsonObject,
  type JsonObject,
  parseCniArgs,
  parseJson,
  UsageError,
} from '@heddle/cni';
import type { Surroundings } from '../surroundings.ts';

type Source = Pick<Surroundings, 'env' | 'places'>;

/** The directory of network configurations: NETCONFPATH. */
export function configDir({ env, places }: Source): string {
  return env['NETCONFPATH'] || places.configDir;
}

/** The interface's name: the flag, else CNI_IFNAME, else `eth0`. */
export function ifNameOf({ env }: Source, flag: string | undefined): string {
  return flag ?? (env['CNI_IFNAME'] || 'eth0');
}

/**
 * CNI_ARGS.
 *
 * @throws {UsageError} for a pair that is not `KEY=value` with neither empty
 */
export function cniArgsOf({ env }: Source): CniArgs {
  const args = parseCniArgs(env['CNI_ARGS'] ?? '');
  const incomplete = args.find(([key, value]) => key === '' || value === '');
  if (incomplete === undefined) return args;
  throw new UsageError(`CNI_ARGS: the pair "${incomplete.join('=')}" lacks its key or its value`, {
    code: 'ARGS_INVALID',
  });
}

/**
 * CAP_ARGS: the arguments of capabilities, as a JSON object.
 *
 * @throws {DecodeError} when it is no JSON, {UsageError} when it is no object
 */
export function capabilityArgsOf({ env }: Source): JsonObject {
  const text = env['CAP_ARGS'] ?? '';
  if (text === '') return {};
  const value = parseJson(text, { what: 'read CAP_ARGS' });
  if (isJsonObject(value)) return value;
  throw new UsageError(
    'CAP_ARGS must be a JSON object, such as {"portMappings": [{"hostPort": 8080, "containerPort": 80}]}',
  );
}

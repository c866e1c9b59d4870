/** `prevResult` of a configuration, in the newest form. */
import { toCniError } from '../errors.ts';
import { parsePrevResult, type Result } from '../result.ts';
import { memberOf } from './request.ts';
import type { Run } from './run.ts';

/**
 * Reads it; absent and `null` are the same.
 *
 * @throws {DecodeError} when it is malformed, but for DEL: what is left of the attachment can be found
 *   without it, and refusing would leave everything
 */
export function readPrevResult({ command, request, plugin, ports, warn }: Run): Result | undefined {
  const { cniVersion } = request;
  const previous = memberOf(request.raw, 'prevResult');
  if (previous === undefined) return undefined;
  const parse = () => parsePrevResult(previous, cniVersion);
  try {
    return ports.decoded === undefined
      ? parse()
      : ports.decoded.recall(`result ${cniVersion}`, previous, parse);
  } catch (error) {
    if (command !== 'DEL') throw error;
    warn(`${plugin.type}: ${toCniError(error).message}; going on without it`);
    return undefined;
  }
}

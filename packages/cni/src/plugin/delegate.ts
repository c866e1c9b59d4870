/**
 * Delegation to an address management plugin (specification 1.1.0, section 4). The delegate is found on
 * CNI_PATH and gets the unchanged configuration and environment; where the binary found is one of ours its
 * code runs right here.
 */
import { CNI_CODE } from '../codes.ts';
import type { Command } from '../environment.ts';
import { CniError, PluginError, toCniError } from '../errors.ts';
import { parseJson } from '../json.ts';
import { isJsonObject, type JsonObject } from '../json-value.ts';
import { parseResult, type Result } from '../result.ts';
import type { IpamDelegate } from './calls.ts';
import type { Plugin } from './definition.ts';
import type { PluginHost } from './host.ts';
import { memberOf } from './request.ts';
import type { UndoStack } from './undo.ts';

/** What delegation needs to know of the invocation that it belongs to. */
export interface DelegationContext {
  readonly raw: JsonObject;
  readonly stdin: Uint8Array;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly path: readonly string[];
  readonly cniVersion: string;
  readonly ports: PluginHost;
  readonly undo: UndoStack | undefined;
  /** Runs a plugin of ours with the same input, under another command. */
  run(plugin: Plugin, command: Command): Promise<Result | undefined>;
}

/** The delegate that `ipam.type` names. */
export function ipamDelegate(context: DelegationContext): IpamDelegate {
  const type = ipamType(context.raw);
  const run = (command: Command) => runDelegate(type, command, context);
  return {
    type,
    async add() {
      context.undo?.push(`release the addresses of ${type}`, async () => {
        await run('DEL');
      });
      const result = await run('ADD');
      if (result?.ips === undefined || result.ips.length === 0) {
        throw new CniError(CNI_CODE.INVALID_CONFIG, 'IPAM plugin returned missing IP config', {
          cniDetails: `ipam type ${JSON.stringify(type)}`,
        });
      }
      return result;
    },
    del: async () => void (await run('DEL')),
    check: async () => void (await run('CHECK')),
    gc: async () => void (await run('GC')),
    status: async () => void (await run('STATUS')),
  };
}

async function runDelegate(
  type: string,
  command: Command,
  context: DelegationContext,
): Promise<Result | undefined> {
  const { ports } = context;
  const path = ports.findPlugin(type, context.path);
  const own = ports.inProcess?.(type, path);
  if (own !== undefined) return context.run(own, command);
  try {
    const stdout = await ports.invoke({
      type,
      path,
      env: { ...context.env, CNI_COMMAND: command },
      stdin: context.stdin,
    });
    return command === 'ADD' ? parseResult(parseJson(stdout), { version: context.cniVersion }) : undefined;
  } catch (error) {
    if (error instanceof PluginError) throw error;
    const { cniCode, msg } = toCniError(error);
    throw new CniError(cniCode, `ipam plugin ${type} (${path}): ${msg}`, { cause: error });
  }
}

function ipamType(raw: JsonObject): string {
  const ipam = memberOf(raw, 'ipam');
  const type = isJsonObject(ipam) ? memberOf(ipam, 'type') : undefined;
  return typeof type === 'string' ? type : '';
}

/**
 * Delegation (specification 1.1.0, section 4): a plugin has another one do part of its work, or all of it. The
 * delegate is found on CNI_PATH and gets the same environment, and either the unchanged configuration (address
 * management) or one made for it. Where the binary found is one of ours its code runs right here.
 */
import { CNI_CODE } from '../codes.ts';
import type { Command } from '../environment.ts';
import { CniError, PluginError, toCniError } from '../errors.ts';
import { goJson } from '../go-json.ts';
import { parseJson } from '../json.ts';
import { isJsonObject, type JsonObject } from '../json-value.ts';
import { parseResult, type Result } from '../result.ts';
import type { Delegate, IpamDelegate } from './calls.ts';
import type { Plugin } from './definition.ts';
import type { PluginHost } from './host.ts';
import { memberOf, type Request, readRequest } from './request.ts';
import type { UndoStack } from './undo.ts';

/** What delegation needs to know of the invocation that it belongs to. */
export interface DelegationContext {
  readonly request: Request;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that are other than in `env`: it is copied only for what is a process. */
  readonly added?: Readonly<Record<string, string>> | undefined;
  readonly path: readonly string[];
  readonly ports: PluginHost;
  readonly undo: UndoStack | undefined;
  /** Runs a plugin of ours in the same surroundings, with its own request, under another command. */
  run(plugin: Plugin, command: Command, request: Request): Promise<Result | undefined>;
}

/** The plugins that an invocation can hand work to. */
export interface Delegates {
  /** The one that `ipam.type` names. */
  readonly ipam: IpamDelegate;
  /** The one that a configuration names. */
  to(config: JsonObject): Delegate;
}

/** See {@link Delegates}. */
export function delegatesOf(context: DelegationContext): Delegates {
  let ipam: IpamDelegate | undefined;
  return {
    get ipam() {
      ipam ??= ipamDelegate(context);
      return ipam;
    },
    to: (config) => {
      const request = readRequest(new TextEncoder().encode(goJson(config)));
      const type = typeIn(request.raw);
      return delegate({ type, title: `plugin ${type}`, work: `what ${type} made`, request }, context);
    },
  };
}

function ipamDelegate(context: DelegationContext): IpamDelegate {
  const { request } = context;
  const type = typeIn(memberOf(request.raw, 'ipam'));
  const title = `ipam plugin ${type}`;
  const chosen = { type, kind: 'ipam', title, work: `the addresses of ${type}`, request } as const;
  const found = delegate(chosen, context);
  return {
    ...found,
    del: once(found.del),
    gc: once(found.gc),
    async add() {
      const result = await found.add();
      if (result.ips !== undefined && result.ips.length > 0) return result;
      throw new CniError(CNI_CODE.INVALID_CONFIG, 'IPAM plugin returned missing IP config', {
        cniDetails: `ipam type ${JSON.stringify(type)}`,
      });
    },
  };
}

/** A plugin that was chosen for some work, and what it gets on stdin. */
interface Chosen {
  readonly type: string;
  /** What it must be, where that matters. */
  readonly kind?: Plugin['kind'];
  /** What messages call it. */
  readonly title: string;
  /** What its ADD gives, in words. */
  readonly work: string;
  readonly request: Request;
}

function delegate(chosen: Chosen, context: DelegationContext): Delegate {
  const run = (command: Command) => runDelegate(chosen, command, context);
  return {
    type: chosen.type,
    async add() {
      let isHeldAlready = false;
      context.undo?.push(`take back ${chosen.work}`, async () => {
        if (!isHeldAlready) await run('DEL');
      });
      try {
        const result = await run('ADD');
        return result ?? { cniVersion: chosen.request.cniVersion };
      } catch (error) {
        isHeldAlready = isDuplicate(error);
        throw error;
      }
    },
    del: async () => void (await run('DEL')),
    check: async () => void (await run('CHECK')),
    gc: async () => void (await run('GC')),
    status: async () => void (await run('STATUS')),
  };
}

/**
 * True when address management refuses because an earlier ADD of the same attachment was never deleted: what that
 * holds may be in use. The words are host-local's, of ours and of the reference's since its release 0.8.2.
 */
function isDuplicate(error: unknown): boolean {
  return error instanceof CniError && error.msg.includes('duplicate allocation is not allowed');
}

async function runDelegate(
  { type, kind, title, request }: Chosen,
  command: Command,
  context: DelegationContext,
): Promise<Result | undefined> {
  const { ports, env, added } = context;
  const path = ports.findPlugin(type, context.path);
  const found = ports.inProcess?.(type, path);
  const own = found instanceof Promise ? await found : found;
  if (own !== undefined) {
    // One that gets the same configuration, and delegates as that says, would never come to an end.
    if (kind !== undefined && own.kind !== kind) throw wrongKind(own, kind);
    return context.run(own, command, request);
  }
  try {
    const stdout = await ports.invoke({
      type,
      path,
      env: { ...env, ...added, CNI_COMMAND: command },
      stdin: request.stdin,
      // An ADD that nobody waits for is taken back, and must not wait for a delegate that hangs.
      signal: command === 'ADD' ? ports.caller : undefined,
    });
    return command === 'ADD' ? parseResult(parseJson(stdout), { version: request.cniVersion }) : undefined;
  } catch (error) {
    if (error instanceof PluginError) throw error;
    const { cniCode, msg } = toCniError(error);
    throw new CniError(cniCode, `${title} (${path}): ${msg}`, { cause: error });
  }
}

function wrongKind({ type, kind }: Plugin, expected: Plugin['kind']): CniError {
  return new CniError(
    CNI_CODE.INVALID_CONFIG,
    `${JSON.stringify(type)} is a ${kind} plugin and no ${expected} plugin`,
  );
}

/** The same, run at its first call only: further ones hear how that ended. */
function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= run();
    return running;
  };
}

function typeIn(config: unknown): string {
  const type = isJsonObject(config) ? memberOf(config, 'type') : undefined;
  return typeof type === 'string' ? type : '';
}

/**
 * Runs one verb of a plugin on a checked request: hands it its call, takes the steps back when it fails, and
 * closes what was opened.
 */
import { ErrorList } from '@heddle/errors';
import type { AttachmentId } from '../attachment.ts';
import { CNI_CODE } from '../codes.ts';
import type { Command, Invocation } from '../environment.ts';
import { CniError } from '../errors.ts';
import type { Result } from '../result.ts';
import { checkRenders } from '../result-render.ts';
import type { IpamDelegate } from './calls.ts';
import type { Plugin } from './definition.ts';
import { type Delegates, delegatesOf } from './delegate.ts';
import type { PluginHost } from './host.ts';
import { LiveCall, LiveContainerCall, LiveDelCall } from './live-calls.ts';
import { LiveGcCall } from './live-gc-call.ts';
import { ownerTag, tagKey } from './owner.ts';
import { passOn } from './pass-on.ts';
import { checkVersion, type Request } from './request.ts';
import { Sessions } from './sessions.ts';
import { type Teardown, UndoStack } from './undo.ts';

/** One invocation: what was asked, of whom, where. */
export interface Run {
  readonly plugin: Plugin;
  readonly command: Exclude<Command, 'VERSION'>;
  readonly invocation: Invocation;
  readonly request: Request;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that are other than in `env` for whatever the plugin starts. */
  readonly added?: Readonly<Record<string, string>>;
  readonly ports: PluginHost;
  readonly warn: (message: string) => void;
  /** The key of the attachment that is marked already as one whose ADD is under way. */
  readonly marked?: string;
}

/**
 * Runs the verb.
 *
 * @returns the result of an ADD, in the newest form
 * @throws for any failure; after a failed ADD nothing is left of it
 */
export async function runPlugin(run: Run): Promise<Result | undefined> {
  using sessions = new Sessions(run.ports, run.invocation.netns);
  refuseOwnNamespace(run, sessions);
  switch (run.command) {
    case 'ADD':
      return await add(run, sessions);
    case 'CHECK':
      await run.plugin.check(new LiveContainerCall(run, sessions, delegates(run)));
      return undefined;
    case 'DEL': {
      const call = new LiveDelCall(run, sessions, delegates(run));
      await releaseThroughInterface(run, call.ipam);
      await call.teardown.step('forget an ADD that was killed', () => {
        run.ports.inflight.forget(tagKey(ownerTag(call.attachment)));
      });
      await toTheEnd(run, call.teardown, () => run.plugin.del(call));
      return undefined;
    }
    case 'GC': {
      const call = new LiveGcCall(run, sessions, delegates(run));
      await releaseThroughInterface(run, call.ipam);
      await toTheEnd(run, call.teardown, () => run.plugin.gc(call));
      return undefined;
    }
    case 'STATUS':
      await run.plugin.status(new LiveCall(run, sessions, delegates(run)));
      return undefined;
  }
}

/**
 * DHCP gives an address back through the interface, which a main plugin is about to take away; all others are
 * asked when it is gone, so that nobody else gets the address while it is still in use. A delegate is asked once:
 * how that ended, the plugin hears when it asks.
 */
async function releaseThroughInterface({ plugin, command }: Run, ipam: IpamDelegate): Promise<void> {
  if (plugin.kind !== 'main' || ipam.type !== 'dhcp') return;
  await (command === 'GC' ? ipam.gc() : ipam.del()).catch(() => {});
}

async function add(run: Run, sessions: Sessions): Promise<Result> {
  const undo = new UndoStack();
  const call = new LiveContainerCall(run, sessions, delegates(run, undo), undo);
  const key = tagKey(ownerTag(call.attachment));
  // What a delegate makes is covered by the mark of the plugin that delegates.
  using _mark = run.marked === key ? undefined : run.ports.inflight.begin(key);
  try {
    const own = await run.plugin.add(call);
    const previous = run.plugin.kind === 'main' ? call.prevResult : undefined;
    const result = previous === undefined ? own : passOn(previous, own);
    // A result that the configuration's version cannot hold fails the ADD while it can still be undone.
    checkRenders(result, run.request.cniVersion);
    // Whoever gave up waiting does not know what was made, and may ask for it anew.
    run.ports.caller?.throwIfAborted();
    return result;
  } catch (error) {
    for (const problem of await undo.unwind()) run.warn(`${run.plugin.type}: ${problem}`);
    throw error;
  }
}

/** Runs a verb that collects problems; the one that it throws itself comes first. */
async function toTheEnd(run: Run, teardown: Teardown, verb: () => Promise<void>): Promise<void> {
  const what = `${run.plugin.type}: ${run.command}`;
  const thrown: unknown[] = [];
  for (const part of [verb, async () => teardown.finish(what)]) {
    try {
      await part();
    } catch (error) {
      thrown.push(error);
    }
  }
  ErrorList.throwIfAny(what, thrown);
}

function delegates(run: Run, undo?: UndoStack): Delegates {
  const { request, invocation, ports, env, added } = run;
  return delegatesOf({
    ...{ request, env, added, path: invocation.path, ports, undo },
    run: async (plugin, command, itsRequest) => {
      if (command === 'VERSION') return undefined;
      checkVersion(plugin, command, itsRequest.cniVersion);
      // The namespaces were compared for the plugin that delegates.
      const delegated = { ...invocation, command, netnsOverride: true };
      return runPlugin({
        ...run,
        ...{ plugin, command, request: itsRequest, invocation: delegated },
        added: { ...added, CNI_COMMAND: command },
        ...(run.command === 'ADD' && { marked: tagKey(ownerTag(attachmentOf(run))) }),
      });
    },
  });
}

function attachmentOf({ request, invocation }: Run): AttachmentId {
  const { containerID, ifName } = invocation;
  return { network: request.network, containerID, ifName };
}

/** ADD and DEL in the plugin's own namespace would take the host's network apart. */
function refuseOwnNamespace({ plugin, command, invocation }: Run, sessions: Sessions): void {
  if (invocation.netnsOverride || (command !== 'ADD' && command !== 'DEL')) return;
  // Address management never enters the container: whether that is there is not its business.
  const mustExist = command === 'ADD' && plugin.kind !== 'ipam';
  const netns = mustExist ? sessions.netns : sessions.netnsIfPresent;
  if (netns === undefined || netns.key !== sessions.host.netns.key) return;
  throw new CniError(
    CNI_CODE.INVALID_NETNS,
    "plugin's netns and netns from CNI_NETNS should not be the same",
  );
}

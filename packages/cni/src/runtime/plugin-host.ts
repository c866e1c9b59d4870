/** The surroundings of a plugin on this machine: its kernel, its files, its processes. */
import { statSync } from 'node:fs';
import { openSession } from '@heddle/netlink';
import { openNetns } from '@heddle/sys';
import type { Plugin, PluginHost } from '../plugin/index.ts';
import type { AttachmentTurns } from './attachment-turns.ts';
import { findPlugin } from './find.ts';
import { InflightMarks } from './inflight.ts';
import { ioFailure } from './io-failure.ts';
import { definedVariables } from './plugin-environment.ts';

/** Plugins by type; a table may have to load them. */
export interface PluginTable {
  get(type: string): Plugin | undefined | Promise<Plugin | undefined>;
}

/** What there is to say about this machine's surroundings. */
export interface SystemPluginHostOptions {
  /**
   * How kernel requests are made: `sync` for a process that does one thing and ends, `threaded` (the default)
   * where others wait.
   */
  readonly mode?: 'sync' | 'threaded';
  /** Whether deletions may be seen to their end by processes that outlive this one: `leaveDeletions` of a session. */
  readonly leaveDeletions?: boolean;
  /** The plugins that may run without a process, and the executables that hold the same code. */
  readonly own?: { readonly executables: readonly string[]; readonly plugins: PluginTable };
  /** Where marks of running ADDs are kept. Default `/run/heddle/adding`. */
  readonly marks?: string;
  /** One operation at a time on an attachment. Default: whatever comes, for a caller that sees to it itself. */
  readonly turns?: AttachmentTurns;
  /** What delegates print on stderr. Default: dropped. */
  readonly onStderr?: (text: string) => void;
}

/**
 * The ports for plugins that work on this machine.
 *
 * @example await serve(bridge, { env: process.env, readStdin }, systemPluginHost({ mode: 'sync' }));
 */
export function systemPluginHost(options: SystemPluginHostOptions = {}): PluginHost {
  const { mode = 'threaded', leaveDeletions, own, marks = '/run/heddle/adding', turns, onStderr } = options;
  return {
    openNetns,
    openSession: (netns) => openSession({ netns, mode, leaveDeletions }),
    findPlugin: (type, path) => findPlugin(type, path).path,
    async invoke({ type, path, env, stdin, signal }) {
      // Most delegates are plugins of ours, which need no process.
      const { execPlugin } = await import('./exec.ts');
      const { stdout, stderr } = await execPlugin({
        ...{ type, path, env: definedVariables(env), stdin, signal },
      });
      if (stderr !== '') onStderr?.(stderr);
      return stdout;
    },
    ...(own !== undefined && {
      inProcess: (type: string, path: string) =>
        isSameFile(path, own.executables) ? own.plugins.get(type) : undefined,
    }),
    ...(turns !== undefined && { exclusive: (operation) => turns.take(operation) }),
    inflight: new InflightMarks(marks),
    clock: { now: () => Date.now() },
    random: { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
  };
}

/** An executable that an upgrade has replaced while it runs is no file any more, so what was found is another. */
function isSameFile(path: string, executables: readonly string[]): boolean {
  try {
    const found = statSync(path);
    return executables.some((executable) => {
      const own = statSync(executable, { throwIfNoEntry: false });
      return own !== undefined && own.ino === found.ino && own.dev === found.dev;
    });
  } catch (error) {
    throw ioFailure('tell whose plugin it is', error);
  }
}

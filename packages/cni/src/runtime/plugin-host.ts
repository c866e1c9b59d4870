/** The surroundings of a plugin on this machine: its kernel, its files, its processes. */
import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { openSession } from '@heddle/netlink';
import { openNetns } from '@heddle/sys';
import type { Plugin, PluginHost } from '../plugin/index.ts';
import { execPlugin } from './exec.ts';
import { findPlugin } from './find.ts';
import { InflightMarks } from './inflight.ts';
import { ioFailure } from './io-failure.ts';
import { definedVariables } from './plugin-environment.ts';

/** What there is to say about this machine's surroundings. */
export interface SystemPluginHostOptions {
  /**
   * How kernel requests are made: `sync` for a process that does one thing and ends, `threaded` (the default)
   * where others wait.
   */
  readonly mode?: 'sync' | 'threaded';
  /** The plugins that may run without a process, and the executable that holds the same code. */
  readonly own?: { readonly executable: string; readonly plugins: ReadonlyMap<string, Plugin> };
  /** Where marks of running ADDs are kept. Default `/run/heddle/adding`. */
  readonly marks?: string;
  /** What delegates print on stderr. Default: dropped. */
  readonly onStderr?: (text: string) => void;
}

/**
 * The ports for plugins that work on this machine.
 *
 * @example await serve(bridge, { env: process.env, readStdin }, systemPluginHost({ mode: 'sync' }));
 */
export function systemPluginHost(options: SystemPluginHostOptions = {}): PluginHost {
  const { mode = 'threaded', own, marks = '/run/heddle/adding', onStderr } = options;
  return {
    openNetns,
    openSession: (netns) => openSession({ netns, mode }),
    findPlugin: (type, path) => findPlugin(type, path).path,
    async invoke({ type, path, env, stdin }) {
      const { stdout, stderr } = await execPlugin({ type, path, env: definedVariables(env), stdin });
      if (stderr !== '') onStderr?.(stderr);
      return stdout;
    },
    ...(own !== undefined && {
      inProcess: (type: string, path: string) =>
        isSameFile(path, own.executable) ? own.plugins.get(type) : undefined,
    }),
    inflight: new InflightMarks(marks),
    clock: { now: () => Date.now() },
    random: { bytes: (count) => new Uint8Array(randomBytes(count)) },
  };
}

/** An executable that an upgrade has replaced while it runs is no file any more, so what was found is another. */
function isSameFile(path: string, executable: string): boolean {
  try {
    const found = realpathSync(path);
    return existsSync(executable) && found === realpathSync(executable);
  } catch (error) {
    throw ioFailure('tell whose plugin it is', error);
  }
}

/** A plugin's surroundings for tests of the protocol: no kernel, no files, no processes. */
import { SysError } from '@heddle/sys';
import type { Plugin, PluginExecution, PluginHost } from '../index.ts';

/** What a test says about the surroundings. */
export interface TestHostOptions {
  /** The namespaces that exist, by path; a session's key equals its namespace's. */
  readonly namespaces?: Readonly<Record<string, string>>;
  /** The key of the plugin's own namespace. */
  readonly own?: string;
  /** What a delegate's binary answers. */
  readonly invoke?: (execution: PluginExecution) => string | Promise<string>;
  readonly inProcess?: ReadonlyMap<string, Plugin>;
  /** Marks of ADDs that are under way elsewhere. */
  readonly marks?: Set<string>;
}

/** Surroundings that tell what was done to them. */
export interface TestHost extends PluginHost {
  /** The namespaces that were closed again. */
  readonly closed: readonly string[];
  /** The keys of the marks that were to be taken away. */
  readonly forgotten: readonly string[];
}

/** Makes such surroundings. */
export function testHost(options: TestHostOptions = {}): TestHost {
  const { namespaces = { '/run/netns/c1': 'c1' }, own = 'host', inProcess, marks = new Set() } = options;
  const closed: string[] = [];
  const forgotten: string[] = [];
  const session = (key: string) => ({
    netns: { key },
    [Symbol.dispose]: () => void closed.push(`session ${key}`),
  });
  return {
    closed,
    forgotten,
    openNetns(path) {
      const key = namespaces[path];
      if (key === undefined) throw new SysError({ errnum: 2, syscall: 'open', path });
      if (key === '') throw new SysError({ errnum: 22, syscall: 'open', path });
      return { key, [Symbol.dispose]: () => void closed.push(`netns ${key}`) } as never;
    },
    openSession: (netns) => session(netns === undefined ? own : netns.key) as never,
    findPlugin: (type, path) => `${path[0]}/${type}`,
    invoke: async (execution) => options.invoke?.(execution) ?? '',
    ...(inProcess !== undefined && { inProcess: (type: string) => inProcess.get(type) }),
    inflight: {
      begin(key) {
        marks.add(key);
        return { [Symbol.dispose]: () => void marks.delete(key) };
      },
      forget: (key) => void forgotten.push(key),
      list: () => new Set(marks),
    },
    clock: { now: () => 0 },
    random: { bytes: (count) => new Uint8Array(count) },
  };
}

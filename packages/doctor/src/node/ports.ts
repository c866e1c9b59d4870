/** What the doctor needs of the node that it looks at. A test hands in a node of its own. */
import type { Environment, PluginExec } from '@heddle/cni/runtime';
import type { PluginReader } from '../programs/reader.ts';

/** Where things are on the node. */
export interface NodePlaces {
  /** Network configurations. */
  readonly configDir: string;
  /** Plugin directories, in the order in which they are searched. */
  readonly pluginPath: readonly string[];
  /** Runtimes of pods that are known to look in some of them only. */
  readonly pluginReaders?: readonly PluginReader[];
  /** The runtime's cache. */
  readonly cacheDir: string;
  /** host-local's reservations, unless a configuration says otherwise. */
  readonly reservationDir: string;
  /** Marks of ADDs of Heddle's plugins that are under way. */
  readonly markDir: string;
}

/** What is at a path. */
export interface FileFacts {
  readonly kind: 'file' | 'directory' | 'other';
  /** Permission bits, as in `0o755`. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
}

/** The node's files, read only. Links are followed. */
export interface NodeFiles {
  /** `undefined` when there is nothing. */
  facts(path: string): FileFacts | undefined;
  /** The text; `undefined` when there is no such file, or it cannot be read. */
  read(path: string): string | undefined;
  /** The first bytes of a file; `undefined` when it cannot be read. */
  head(path: string, length: number): Uint8Array | undefined;
  /** The path with all links followed; the path itself when there is nothing. */
  real(path: string): string;
  /** The names in a directory, in order; none when there is no such directory, or it cannot be listed. */
  list(path: string): readonly string[];
  /** Why this process may not do something with what is there, as an errno such as `EROFS`; `undefined` when it may. */
  refusal(path: string, wish: 'read' | 'write' | 'execute'): string | undefined;
}

/** A line of the kernel's log. */
export interface KernelLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
}

/** The machine. */
export interface Machine {
  /** The kernel's release, such as `6.12.9-amd64`. */
  readonly kernelRelease: string;
  /** The user that this process is. */
  readonly uid: number;
  /** The kernel's own log since the machine started, the oldest line first; empty when it may not be read. */
  kernelLog(): readonly KernelLine[];
  /** When processes of a program were started, in milliseconds since the epoch. */
  startTimes(program: string): readonly number[];
}

/** See the file's comment. */
export interface NodePorts {
  readonly places: NodePlaces;
  readonly files: NodeFiles;
  readonly machine: Machine;
  /** How plugins are found and asked. */
  readonly exec: PluginExec;
  /** The environment that plugins inherit. */
  readonly env: Environment;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Who on a node looks for plugins where: a directory that one runtime knows, another need not. */

/** A runtime that gives pods the first network by file name, and the directories that it looks in. */
export interface PluginReader {
  /** What people call it: `containerd`. */
  readonly runtime: string;
  readonly directories: readonly string[];
  /** Where that is said, or could be: `bin_dir in /etc/containerd/config.toml`. */
  readonly setting: string;
}

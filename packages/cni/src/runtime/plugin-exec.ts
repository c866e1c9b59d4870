/**
 * The port through which plugins are found and run. `systemExec` starts executables, `inProcessExec` calls
 * code in this process; a test hands in its own.
 */

/** One invocation of a plugin. */
export interface PluginRun {
  /** The plugin's type, for messages. */
  readonly type: string;
  /** Where it is, as {@link PluginExec.find} said. */
  readonly path: string;
  /** The complete environment of the invocation. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | Uint8Array;
  /** Ends the plugin, with everything it has started. */
  readonly signal?: AbortSignal | undefined;
}

/** What a plugin printed. */
export interface PluginOutput {
  readonly stdout: string;
  readonly stderr: string;
}

/** All runs of one operation, in their order. */
export interface ChainRun {
  /** What is known before the first: for ADD, `prevResult` is still to come. Their environments are equal. */
  readonly runs: readonly PluginRun[];
  /** For ADD: each gets the result of the one before as `prevResult`. One that names no version has this. */
  readonly resultVersion?: string | undefined;
  /** Whether nothing is run after a failure. */
  readonly stopsAtFailure: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Finds plugins and runs them. */
export interface PluginExec {
  /**
   * The place of a plugin, for {@link PluginRun.path} and for messages.
   *
   * @throws {CniError} `failed to find plugin "X" in path [a b c]`.
   */
  find(type: string, path: readonly string[]): string;
  /**
   * Runs a plugin to its end.
   *
   * @throws {PluginError} when it fails; the error carries the plugin's own code and texts.
   */
  run(run: PluginRun): Promise<PluginOutput>;
  /**
   * Told of all runs of an operation before the first, and gives what to run them with, in that order. It may have run
   * them all by then. Absent where each plugin is run by itself.
   */
  ahead?(chain: ChainRun): Promise<PluginExec>;
}

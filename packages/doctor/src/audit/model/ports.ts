/** What an audit gets to see of the world. All of it is handed in, so that an audit is a function of its input. */
import type { Addr, Prefix } from '@heddle/netaddr';
import type { PluginReader } from '../../programs/reader.ts';

/** Files, read-only. */
export interface ReadFiles {
  /** The content; `gone` when there is no such file, else the reason why it cannot be read, in words. */
  read(path: string): Uint8Array | 'gone' | (string & {});
  /** The entries of a directory; `undefined` when there is no such directory, the reason when it cannot be read. */
  list(path: string): readonly DirectoryEntry[] | string | undefined;
}

/** An entry of a directory; of a link, what it leads to. */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'broken link' | 'other';
}

/** What is known of this machine's network. */
export interface HostFacts {
  readonly addresses: readonly { readonly prefix: Prefix; readonly device: string }[];
  readonly routes: readonly HostRoute[];
  readonly links: readonly { readonly name: string; readonly kind?: string; readonly mtu: number }[];
  /** Whether packets are forwarded from one link to another; `undefined` when that cannot be read. */
  readonly forwarding: { readonly ipv4?: boolean | undefined; readonly ipv6?: boolean | undefined };
  /** Whether IPv6 is switched off for new links. */
  readonly ipv6Disabled?: boolean;
}

/** A route of the main table. */
export interface HostRoute {
  readonly destination: Prefix;
  readonly device: string;
  readonly gateway?: Addr;
  /** Whether it came by router advertisement. */
  readonly isAdvertised?: boolean;
}

/** The plugins that are installed. */
export interface InstalledPlugins {
  /** Where they are looked for, in order. */
  readonly directories: readonly string[];
  /** Runtimes of pods that are known to look in some of them only. */
  readonly readers?: readonly PluginReader[];
  /** The executable of a type; in these directories, where others than all are given. */
  find(type: string, directories?: readonly string[]): InstalledPlugin;
}

/** What the look for a plugin's executable came to. */
export interface InstalledPlugin {
  readonly path?: string;
  /** What was in the way, in words: `broken link /a/bridge (to /nonexistent)`. */
  readonly obstacles: readonly string[];
  /** What it answers to VERSION; nothing when it was not asked, or did not answer. */
  readonly versions?: readonly string[];
}

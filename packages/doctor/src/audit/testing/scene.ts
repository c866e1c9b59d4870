/** Files that are only in memory, and what an audit finds in them. */
import type { Addr, Prefix } from '@heddle/netaddr';
import { Prefix as prefixes } from '@heddle/netaddr';
import type { Finding } from '../../finding.ts';
import type { PluginReader } from '../../programs/reader.ts';
import { audit, NOT_A_DIRECTORY } from '../audit.ts';
import type { AuditOptions } from '../audit-rule.ts';
import type { HostFacts, InstalledPlugin, InstalledPlugins, ReadFiles } from '../model/ports.ts';

/** The directory that scenes are in. */
export const DIRECTORY = '/etc/cni/net.d';

/** What there is: files by their name in {@link DIRECTORY}; anything that is no text and no bytes is written as JSON. */
export interface Scene {
  readonly files: Readonly<Record<string, unknown>>;
  readonly options?: AuditOptions;
  readonly host?: HostFacts;
  readonly installed?: InstalledPlugins;
}

/** What an audit of the directory finds. */
export function findingsIn({ files, options, host, installed }: Scene): readonly Finding[] {
  return audit({
    ...{ paths: [DIRECTORY], files: memoryFiles(files) },
    ...(options !== undefined && { options }),
    ...(host !== undefined && { host }),
    ...(installed !== undefined && { installed }),
  }).findings;
}

/** Files in memory. An `Error` is a file that cannot be read, for the reason that it has. */
export function memoryFiles(files: Readonly<Record<string, unknown>>): ReadFiles {
  const contents = new Map(Object.entries(files).map(([name, content]) => [`${DIRECTORY}/${name}`, content]));
  return {
    read(path) {
      const content = contents.get(path);
      if (content === undefined) return 'gone';
      return content instanceof Error ? content.message : bytesOf(content);
    },
    list(path) {
      const below = [...contents.keys()].filter((each) => each.startsWith(`${path}/`));
      if (below.length === 0) return contents.has(path) ? NOT_A_DIRECTORY : undefined;
      const names = new Set(below.map((each) => each.slice(path.length + 1).split('/')[0] ?? ''));
      return [...names].map((name) => ({
        name,
        kind: contents.has(`${path}/${name}`) ? ('file' as const) : ('directory' as const),
      }));
    },
  };
}

/** A list with a name and a version, and these plugins. */
export function list(...plugins: readonly object[]): object {
  return { cniVersion: '1.0.0', name: 'pods', plugins };
}

/** A network of a bridge with this `ipam` object, or subnet. */
export function bridged(ipam: object | string, more: object = {}): object {
  const addresses = typeof ipam === 'string' ? { type: 'host-local', subnet: ipam } : ipam;
  return list({ type: 'bridge', ...more, ipam: addresses });
}

/** The facts of a host with one link to the world. */
export function hostWith(more: Partial<HostFacts> = {}): HostFacts {
  const lan = prefixes.parse('198.51.100.0/24');
  return {
    addresses: [{ prefix: prefixes.parse('198.51.100.7/24'), device: 'eth0' }],
    routes: [
      { destination: prefixes.DEFAULT4, device: 'eth0' },
      { destination: lan, device: 'eth0' },
    ],
    links: [
      { name: 'lo', mtu: 65536 },
      { name: 'eth0', mtu: 1500 },
    ],
    forwarding: { ipv4: true, ipv6: true },
    ipv6Disabled: false,
    ...more,
  };
}

/** Installed plugins by type. */
export function installedAs(
  plugins: Readonly<Record<string, InstalledPlugin>>,
  readers: readonly PluginReader[] = [],
): InstalledPlugins {
  const find: InstalledPlugins['find'] = (type, directories) => {
    const plugin = plugins[type] ?? { obstacles: [] };
    const isSeen = directories?.some((directory) => plugin.path?.startsWith(`${directory}/`)) ?? true;
    return isSeen ? plugin : { obstacles: [] };
  };
  return { directories: ['/opt/cni/bin'], readers, find };
}

/** A prefix of a text. */
export function prefix(text: string): Prefix {
  return prefixes.parse(text);
}

/** An address of a text. */
export function addr(text: string): Addr {
  return prefixes.parse(`${text}/${text.includes(':') ? 128 : 32}`).addr;
}

function bytesOf(content: unknown): Uint8Array {
  if (content instanceof Uint8Array) return content;
  return new TextEncoder().encode(typeof content === 'string' ? content : JSON.stringify(content));
}

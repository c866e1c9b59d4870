/** The kernel parameters of a namespace that plugins change. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Link } from '@heddle/netlink';
import { readFileIn } from '@heddle/sys';
import type { Namespace } from './namespace.ts';

/** Every parameter of IPv4 and IPv6, of the defaults, and of the links that are there, with its value. */
export function settings(
  namespace: Pick<Namespace, 'handle' | 'inside'>,
  links: readonly Pick<Link, 'name'>[],
): readonly (readonly [name: string, value: string])[] {
  const places = ['all', 'default', ...links.map(({ name }) => name)];
  const directories = [
    ...['core', 'ipv4', 'ipv6'].map((name) => join(ROOT, name)),
    ...['ipv4', 'ipv6'].flatMap((family) => places.map((place) => join(ROOT, family, 'conf', place))),
  ];
  const files = namespace.inside(() => directories.flatMap(filesOf));
  return files.flatMap((path) => {
    try {
      return [[path.slice(ROOT.length + 1), readFileIn(namespace.handle, path).trim()] as const];
    } catch {
      // Some can only be written.
      return [];
    }
  });
}

const ROOT = '/proc/sys/net';
/** What the kernel counts or draws by itself. */
const VOLATILE =
  /(stable_secret|tcp_fastopen_key|tcp_mem|udp_mem|_hash|nf_log|fs|rps_|optmem|netdev_rss_key)/;

function filesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile() && !VOLATILE.test(entry.name))
      .map(({ name }) => join(directory, name));
  } catch {
    return [];
  }
}

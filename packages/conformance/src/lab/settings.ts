/** The kernel parameters of a namespace that plugins change. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Link } from '@heddle/netlink';
import type { Namespace } from './namespace.ts';

/** Every parameter of IPv4 and IPv6, of the defaults, and of the links that are there, with its value. */
export function settings(
  namespace: Pick<Namespace, 'inside'>,
  links: readonly Pick<Link, 'name'>[],
): readonly (readonly [name: string, value: string])[] {
  const places = ['all', 'default', ...links.map(({ name }) => name)];
  const directories = [
    ...['core', 'ipv4', 'ipv6'].map((name) => join(ROOT, name)),
    ...['ipv4', 'ipv6'].flatMap((family) => places.map((place) => join(ROOT, family, 'conf', place))),
  ];
  // In one visit: a look at a node reads a thousand of them.
  return namespace.inside(() => directories.flatMap(filesOf).flatMap(settingOf));
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

/** Nothing for what can only be written. */
function settingOf(path: string): readonly (readonly [name: string, value: string])[] {
  try {
    return [[path.slice(ROOT.length + 1), readFileSync(path, 'utf8').trim()]];
  } catch {
    return [];
  }
}

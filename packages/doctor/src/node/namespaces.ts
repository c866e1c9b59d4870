/** All network namespaces of the node that anything refers to, and the addresses in them. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { Addr } from '@heddle/netaddr';
import { type NetnsHandle, openNetns, readFileIn, SysError } from '@heddle/sys';

/**
 * Paths of network namespaces, one for each: those of processes, and those that are mounted somewhere, as `ip netns`
 * and container runtimes keep them. One that only an open file descriptor keeps alive is not found.
 *
 * @param more further paths that may be namespaces
 */
export function namespacePaths(more: readonly string[] = []): readonly string[] {
  const found = new Map<string, string>();
  const note = (path: string) => {
    const name = linkTarget(path);
    if (name !== undefined && !found.has(name)) found.set(name, path);
  };
  for (const pid of namesIn('/proc')) if (/^\d+$/.test(pid)) note(`/proc/${pid}/ns/net`);
  const mounted = [...mountedNamespaces(), ...more.map((path) => [path, identity(path)] as const)];
  for (const [path, name] of mounted) if (name !== undefined && !found.has(name)) found.set(name, path);
  return [...found.values()];
}

/** Which addresses are in use. */
export interface UsedAddresses {
  /** @param address in canonical text */
  has(address: string): boolean;
}

/**
 * The addresses of the node in all its namespaces, read in one go without waiting: for a decision that must be made
 * under a lock. Where a namespace could not be looked into, any address may be in use, and so all are.
 */
export function addressesEverywhere(paths: readonly string[]): UsedAddresses {
  const addresses = new Set<string>();
  let isComplete = true;
  for (const path of paths) {
    try {
      using netns = openNetns(path);
      for (const address of addressesIn(netns)) addresses.add(address);
    } catch (error) {
      // Also said of a process that has ended meanwhile (proc_pid_ns(5)).
      if (SysError.is(error, 'EACCES', 'EPERM')) isComplete &&= !existsSync(dirname(dirname(path)));
      else if (!SysError.is(error, 'ENOENT', 'EINVAL', 'ESRCH', 'ENOTDIR')) throw error;
    }
  }
  return { has: (address) => !isComplete || addresses.has(address) };
}

/** The addresses of one namespace: proc_pid_net(5), `fib_trie` and `if_inet6`. */
function addressesIn(netns: NetnsHandle): readonly string[] {
  const v4 = [...(readIfThere(netns, 'fib_trie') ?? '').matchAll(/-- (\S+)\n\s+\/32 host LOCAL/g)].map(
    ([, address = '']) => address,
  );
  const v6 = [...(readIfThere(netns, 'if_inet6') ?? '').matchAll(/^([0-9a-f]{32}) /gm)].map(
    ([, digits = '']) => String(Addr.fromBytes(Buffer.from(digits, 'hex'))),
  );
  return [...v4, ...v6];
}

function readIfThere(netns: NetnsHandle, name: string): string | undefined {
  try {
    return readFileIn(netns, `/proc/thread-self/net/${name}`);
  } catch (error) {
    if (SysError.is(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Mounts of nsfs, with the namespace's name such as `net:[4026531840]` — proc_pid_mountinfo(5). */
function mountedNamespaces(): readonly (readonly [path: string, name: string | undefined])[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, , , root = '', point = ''] = line.split(' ');
      return line.includes(' - nsfs ') && root.startsWith('net:') ? [[point, root] as const] : [];
    });
}

function identity(path: string): string | undefined {
  try {
    using netns = openNetns(path);
    return `net:[${netns.ino}]`;
  } catch {
    return undefined;
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // The process has ended.
    return undefined;
  }
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

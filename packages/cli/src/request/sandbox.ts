/** The container's side of a command line: its namespace's path, and the identity that follows from that. */
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Attachment } from '@heddle/cni/runtime';
import type { Surroundings } from '../surroundings.ts';
import { capabilityArgsOf, cniArgsOf, ifNameOf } from './environment.ts';

/**
 * The absolute path of a namespace: a bare name is one of `ip netns`, anything with a slash is a path.
 *
 * @example netnsPath(surroundings, 'blue') // '/run/netns/blue'
 */
export function netnsPath({ cwd, places }: Pick<Surroundings, 'cwd' | 'places'>, argument: string): string {
  return argument.includes('/') ? resolve(cwd, argument) : join(places.netnsDir, argument);
}

/**
 * The container ID for a namespace that no runtime gave one to: `cnitool-` and the first 20 hex digits of the
 * SHA-512 of its absolute path, as cnitool derives it.
 */
export function containerIdOf(netns: string): string {
  return `cnitool-${createHash('sha512').update(netns).digest('hex').slice(0, 20)}`;
}

/** What a command line may say about an attachment beside its network and namespace. */
export interface AttachmentFlags {
  readonly ifname?: string | undefined;
  readonly containerId?: string | undefined;
}

/**
 * The attachment that a command line and its environment describe.
 *
 * @param netns the argument
 * @throws {UsageError|DecodeError} when a variable is malformed
 */
export function attachmentOf(
  surroundings: Surroundings,
  netns: string,
  { ifname, containerId }: AttachmentFlags,
): Attachment & { readonly netns: string } {
  const path = netnsPath(surroundings, netns);
  const args = cniArgsOf(surroundings);
  const capabilityArgs = capabilityArgsOf(surroundings);
  return {
    containerID: containerId ?? containerIdOf(path),
    netns: path,
    ifName: ifNameOf(surroundings, ifname),
    ...(args.length > 0 && { args }),
    ...(Object.keys(capabilityArgs).length > 0 && { capabilityArgs }),
  };
}

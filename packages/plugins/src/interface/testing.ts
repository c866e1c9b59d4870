/** Compares what the reference's plugins that join a container to its host make with what ours make. */
import assert from 'node:assert/strict';
import { PluginError } from '@heddle/cni';
import type { Container, LabRequest, PluginLab, ReferencePlugins, TestNetns } from '../testing/index.ts';

/**
 * One ADD each, at each version, on nodes of their own: same results, same addresses, same routes, on both sides.
 */
export async function makeTheSame(
  reference: ReferencePlugins | undefined,
  labFor: () => PluginLab,
  requestIn: (lab: PluginLab, cniVersion: string) => LabRequest & { readonly container: Container },
  versions: readonly string[],
): Promise<void> {
  for (const cniVersion of versions) {
    using theirs = labFor();
    using ours = labFor();
    const [theirRequest, ourRequest] = [requestIn(theirs, cniVersion), requestIn(ours, cniVersion)];
    try {
      const call = { ...theirRequest, command: 'ADD' } as const;
      const theirResult: unknown = JSON.parse(reference?.run(theirs.host, call) ?? '');
      const { stdout } = await ours.run({ ...ourRequest, command: 'ADD' });
      assert.deepEqual(
        stateOf(ours, ourRequest.container, JSON.parse(stdout)),
        stateOf(theirs, theirRequest.container, theirResult),
        cniVersion,
      );
    } catch (error) {
      // The distribution's release is older than the newest version.
      if (error instanceof PluginError && error.cniCode === 1) continue;
      throw error;
    }
  }
}

/** What an ADD made, without what is random. */
function stateOf({ host }: PluginLab, container: TestNetns, result: unknown): object {
  const anonymous = (text: string) => text.replace(/veth[0-9a-f]{8}/g, 'PORT');
  const settled = (text: string) =>
    anonymous(text)
      .split('\n')
      .map((line) => line.replace(/ (metric \d+|pref medium|linkdown|proto kernel)/g, '').trim())
      .filter((line) => line !== '' && !line.startsWith('fe80::'))
      .sort();
  const addresses = (netns: TestNetns) =>
    (
      netns.json('ip', '-j', 'address') as {
        addr_info: { local: string; prefixlen: number; scope: string }[];
      }[]
    )
      .flatMap(({ addr_info }) => addr_info)
      .filter(({ scope }) => scope === 'global')
      .map(({ local, prefixlen }) => `${local}/${prefixlen}`);
  const { dns, ...rest } = result as { cniVersion: string; dns?: object };
  // The distribution's release prints an empty dns in results of 1.x as well.
  const isEmpty = rest.cniVersion.startsWith('1.') && Object.keys(dns ?? {}).length === 0;
  const text = anonymous(JSON.stringify(isEmpty ? rest : result)).replaceAll(container.path, 'SANDBOX');
  return {
    result: JSON.parse(text.replace(/(?:[0-9a-f]{2}:){5}[0-9a-f]{2}/g, 'MAC')),
    host: [addresses(host), settled(host.run('ip', 'route')), settled(host.run('ip', '-6', 'route'))],
    inside: [
      addresses(container),
      settled(container.run('ip', 'route')),
      settled(container.run('ip', '-6', 'route')),
    ],
    routing: [host, container].map((netns) =>
      settled(netns.run('sysctl', '-a', '-r', '^net[.]ipv6[.]conf[.].*[.](accept_ra|forwarding)$')),
    ),
    mtu: [host, container].map((netns) =>
      /mtu 1400/.test(netns.run('ip', '-o', 'link', 'show', 'type', 'veth')),
    ),
  };
}

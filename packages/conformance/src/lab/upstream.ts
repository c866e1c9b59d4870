/** The part of a chain before the plugin under test: an interface with addresses, made by the kit. */
import type { Result } from '@heddle/cni';
import { Addr, Prefix } from '@heddle/netaddr';
import type { Namespace } from './namespace.ts';

/**
 * Makes a pair of links between node and container, with addresses and default routes of both families.
 *
 * @param n makes names and addresses unique
 * @returns the result that such a plugin would have given
 */
export async function makeUpstream(
  node: Namespace,
  container: Namespace,
  { n, ifName }: { readonly n: number; readonly ifName: string },
): Promise<Result> {
  const host = `kitveth${n}`;
  const subnet4 = `10.${220 + Math.floor(n / 250)}.${n % 250}`;
  const subnet6 = `fd00:220:${n.toString(16)}:`;
  const there = container.session;
  await node.session.links.add({
    ...{ kind: 'veth', name: host, up: true },
    peer: { name: ifName, netns: container.handle },
  });
  await there.links.set('lo', { up: true });
  await there.links.set(ifName, { up: true });
  for (const [session, link, last] of [
    [node.session, host, 1],
    [there, ifName, 2],
  ] as const) {
    await session.addresses.add({ link, prefix: Prefix.parse(`${subnet4}.${last}/24`), broadcast: 'auto' });
    await session.addresses.add({ link, prefix: Prefix.parse(`${subnet6}:${last}/64`), noDad: true });
  }
  await there.routes.add({ dst: Prefix.DEFAULT4, gateway: Addr.parse(`${subnet4}.1`), link: ifName });
  await there.routes.add({ dst: Prefix.DEFAULT6, gateway: Addr.parse(`${subnet6}:1`), link: ifName });
  const [outer, inner] = [await node.session.links.find(host), await there.links.find(ifName)];
  return {
    cniVersion: '1.1.0',
    interfaces: [
      { name: host, mac: `${outer?.mac}` },
      { name: ifName, mac: `${inner?.mac}`, sandbox: container.path },
    ],
    ips: [
      { address: `${subnet4}.2/24`, gateway: `${subnet4}.1`, interface: 1 },
      { address: `${subnet6}:2/64`, gateway: `${subnet6}:1`, interface: 1 },
    ],
    routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
    dns: { nameservers: ['192.0.2.53'], search: ['conformance.example'] },
  };
}

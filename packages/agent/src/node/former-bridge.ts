/**
 * The bridge of a former network among pods that the node routes. Its own pods take all of the node's subnet for their
 * neighbours, so the node answers for those that are not: for IPv4 wherever it has a route to somewhere else, for IPv6
 * address by address.
 */
import { ROUTE_PROTOCOL } from '@heddle/dataplane';
import { type Addr, Prefix } from '@heddle/netaddr';
import { type KernelSession, RT_SCOPE } from '@heddle/netlink';

/** A bridge that leads to others than its own pods. */
export interface ConnectedBridge {
  /** Answers for these addresses of IPv6 from now on, and for no others, nor for those that are on the bridge. */
  answerFor(addresses: readonly Addr[], present: readonly Addr[]): Promise<void>;
}

/**
 * Has exactly these pods be reached over the bridge.
 *
 * @returns nothing where there is no such bridge
 * @throws {NetlinkError} when the kernel refuses a route
 */
export async function connectBridge(
  host: KernelSession,
  name: string | undefined,
  pods: readonly Addr[],
): Promise<ConnectedBridge | undefined> {
  const bridge = name === undefined ? undefined : await host.links.find(name);
  if (bridge === undefined) return undefined;
  const link = bridge.index;
  await host.sysctl.tryWrite({
    [`net/ipv4/conf/${bridge.name}/proxy_arp`]: '1',
    [`net/ipv6/conf/${bridge.name}/proxy_ndp`]: '1',
    // Otherwise the first packet between two pods waits for most of a second.
    [`net/ipv4/neigh/${bridge.name}/proxy_delay`]: '0',
    [`net/ipv6/neigh/${bridge.name}/proxy_delay`]: '0',
  });
  const routes = (await host.routes.list({ link, protocol: ROUTE_PROTOCOL })).map(({ dst }) => dst);
  const isWanted = (dst: Prefix) => pods.some((addr) => dst.isSingle && addr.equals(dst.addr));
  const isThere = (addr: Addr) => routes.some((dst) => dst.isSingle && dst.addr.equals(addr));
  await host.batch([
    ...pods
      .filter((addr) => !isThere(addr))
      .map((addr) => host.routes.plan.replace({ ...podRoute(addr), link })),
    ...routes
      .filter((dst) => !isWanted(dst))
      .map((dst) => host.routes.plan.delete({ ...podRoute(dst.addr), link })),
  ]);
  return {
    async answerFor(addresses, present) {
      const wanted = addresses.filter(
        (addr) => addr.family === 6 && !present.some((each) => each.equals(addr)),
      );
      const wantedTexts = new Set(wanted.map(String));
      const answered = await host.neighbours.list({ link, family: 6, proxy: true });
      const answeredTexts = new Set(answered.map(({ address }) => `${address}`));
      await host.batch([
        ...wanted
          .filter((address) => !answeredTexts.has(`${address}`))
          .map((address) => host.neighbours.plan.replace({ link, address, proxy: true, state: 0 })),
        ...answered
          .filter(({ address }) => !wantedTexts.has(`${address}`))
          .map(({ address }) => host.neighbours.plan.delete({ link, address, proxy: true })),
      ]);
    },
  };
}

/**
 * Makes a bridge what it was: it leads to its own pods only.
 *
 * @throws {NetlinkError} when the kernel refuses to delete a route
 */
export async function disconnectBridge(host: KernelSession, name: string): Promise<void> {
  const bridge = await connectBridge(host, name, []);
  if (bridge === undefined) return;
  await bridge.answerFor([], []);
  await host.sysctl.tryWrite({
    [`net/ipv4/conf/${name}/proxy_arp`]: '0',
    [`net/ipv6/conf/${name}/proxy_ndp`]: '0',
  });
}

/** Has packets be taken from the devices of a former overlay though answers to them go another way by now. */
export async function takeFromEverywhere(host: KernelSession, devices: readonly string[]): Promise<void> {
  await host.sysctl.tryWrite(
    Object.fromEntries(devices.map((name) => [`net/ipv4/conf/${name}/rp_filter`, LOOSE])),
  );
}

/** Documentation/networking/ip-sysctl.rst: any way to the source will do. */
const LOOSE = '2';

function podRoute(addr: Addr) {
  const scope = addr.family === 4 ? { scope: RT_SCOPE.LINK } : {};
  return { dst: Prefix.host(addr), protocol: ROUTE_PROTOCOL, ...scope };
}

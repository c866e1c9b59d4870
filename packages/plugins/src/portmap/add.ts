/** ADD: publishes the ports that the runtime was asked for, and passes the result on. */
import { ConfigError, type Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import {
  addPortMaps,
  describeHostPort,
  forgetFlowsBefore,
  isUnreachable,
  type PortMaps,
  removePortMaps,
} from '@heddle/dataplane';
import type { Addr } from '@heddle/netaddr';
import { type KernelSession, NetlinkError } from '@heddle/netlink';
import { type PortmapConfig, portMapOptions } from './config.ts';
import { publishedBy } from './published.ts';

/** See the file's comment. Without any port it still takes away what older containers published of the addresses. */
export async function add(call: AddCall<PortmapConfig>): Promise<Result> {
  const { config, host, attachment, ifName, prevResult, undo } = call;
  const options = portMapOptions(config);
  if (prevResult === undefined)
    throw new ConfigError('must be called as chained plugin', { pointer: '/prevResult' });
  const maps = publishedBy(config, ifName, prevResult);
  for (const mapping of maps.mappings.filter(isUnreachable)) {
    call.warn(
      `host port ${describeHostPort(mapping)} leads nowhere: packets to ::1 never leave the loopback link`,
    );
  }
  if (maps.mappings.length > 0) {
    undo.push('unpublish ports', async () => {
      await removePortMaps(host, attachment);
    });
  }
  await addPortMaps(host, attachment, maps, options);
  if (maps.mappings.length > 0) {
    await forget(call, maps);
    await routeLocalnet(host, maps);
  }
  return prevResult;
}

/** Old connections are a nuisance, not a failure. */
async function forget(call: AddCall<PortmapConfig>, maps: PortMaps): Promise<void> {
  try {
    await forgetFlowsBefore(call.host, maps);
  } catch (error) {
    call.warn(
      `old UDP connections to published ports may go on: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** Lets packets of 127.0.0.1 out to the container; they are masqueraded on the way. */
async function routeLocalnet(host: KernelSession, { snat, targets }: PortMaps): Promise<void> {
  const target = targets.find(({ family }) => family === 4);
  if (!snat || target === undefined) return;
  const link = await linkTo(host, target.addr);
  if (link === undefined) return;
  const name = `net/ipv4/conf/${link}/route_localnet`;
  if ((await host.sysctl.read(name)) !== '1') await host.sysctl.write(name, 1);
}

async function linkTo({ routes, links }: KernelSession, addr: Addr): Promise<string | undefined> {
  try {
    const { link } = await routes.lookup(addr);
    return link === undefined ? undefined : (await links.find(link))?.name;
  } catch (error) {
    if (NetlinkError.is(error, 'ENETUNREACH', 'EHOSTUNREACH', 'EACCES', 'EINVAL')) return undefined;
    throw error;
  }
}

/** What to do where nobody answers for a container's gateway. */
import { type Addr, Prefix } from '@heddle/netaddr';
import { commandLine } from '../command-line.ts';
import type { Finding } from '../finding.ts';
import type { WalkContext } from './context.ts';

/** What brings it back: a bridge that was down for a while has lost its addresses of IPv6. */
export function gatewayBack(
  { view: { addresses, links, networks }, pod: { attachment, hostLink, result } }: WalkContext,
  gateway: Addr,
): Pick<Finding, 'remedy' | 'commands'> {
  const bridge = links.find(({ index }) => index === hostLink?.master);
  const isOurs = networks.networks.some(
    ({ list: { name, plugins } }) =>
      name === attachment.network &&
      plugins.some(({ raw }) => raw['isGateway'] === true || raw['isDefaultGateway'] === true),
  );
  const subnet = (result?.ips ?? [])
    .flatMap(({ address }) => Prefix.tryParse(address) ?? [])
    .find((prefix) => prefix.contains(gateway));
  const isThere = addresses.some(({ prefix }) => prefix.addr.equals(gateway));
  if (bridge !== undefined && isOurs && subnet !== undefined && !isThere) {
    const address = Prefix.of(gateway, subnet.bits);
    return {
      remedy: `give ${bridge.name} the address back that the network wants there; find out what takes it`,
      commands: [commandLine('ip', 'address', 'add', String(address), 'dev', bridge.name)],
    };
  }
  const where = bridge === undefined ? 'the node or on its network' : 'the bridge';
  return {
    remedy: `see that ${gateway} is on ${where}, and that nothing filters ARP or neighbour discovery`,
  };
}

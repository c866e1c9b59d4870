/** Whether the bridge of a network can get the address that the network asks for. */
import { isJsonObject, type JsonObject, type PluginConfig } from '@heddle/cni';
import { Prefix } from '@heddle/netaddr';
import { commandLine } from '../command-line.ts';
import type { Finding } from '../finding.ts';
import { poolsOf } from '../node/pools.ts';
import type { NodeView } from '../node/view.ts';
import { found } from '../rule.ts';
import { doctorRule, type NodeCheck } from './check.ts';

const otherAddress = doctorRule({
  id: 'network/bridge-address',
  severity: 'error',
  title: "A network's bridge has the address of another network",
  explains:
    'The bridge was made by an earlier configuration, or the subnet of the node has changed since (flannel). The plugin bridge then refuses every container: "already has an IP address different from …". Looked at are bridges whose address follows from a range of host-local or from flannel\'s `subnet.env`.',
});

/** See the file's comment. */
export const bridgeAddressCheck: NodeCheck = {
  rules: [otherAddress],
  look: (view) =>
    view.networks.networks.flatMap(({ list, path }) =>
      list.plugins
        .flatMap((plugin) => wishOf(view, plugin, list.name) ?? [])
        .flatMap(({ bridge, addresses }) =>
          addresses.flatMap((address) => judge(view, { bridge, address, network: list.name, file: path })),
        ),
    ),
};

/** What ADD wants of a bridge. */
interface Wish {
  readonly bridge: string;
  /** With the length of the subnet. */
  readonly addresses: readonly Prefix[];
}

function wishOf(view: NodeView, { type, raw }: PluginConfig, network: string): Wish | undefined {
  if (type === 'flannel') return flannelWish(view, raw);
  const isGateway = raw['isGateway'] === true || raw['isDefaultGateway'] === true;
  if (type !== 'bridge' || !isGateway || raw['forceAddress'] === true) return undefined;
  const { reservations, ports } = view;
  const lists = view.networks.networks.map(({ list }) => list).filter(({ name }) => name === network);
  const pools = poolsOf({ lists, reservations, reservationDir: ports.places.reservationDir });
  return {
    bridge: nameIn(raw),
    // Which range of several gives the address is not known before.
    addresses: pools
      .flatMap(({ sets }) => sets.filter(({ length }) => length === 1).flat())
      .flatMap(({ subnet, gateway }) => (gateway === undefined ? [] : [Prefix.of(gateway, subnet.bits)])),
  };
}

/** Flannel has bridge, with the address that its daemon has written down. */
function flannelWish({ ports }: NodeView, raw: JsonObject): Wish | undefined {
  const delegate = isJsonObject(raw['delegate']) ? raw['delegate'] : {};
  if ((delegate['type'] ?? 'bridge') !== 'bridge' || delegate['forceAddress'] === true) return undefined;
  const file = typeof raw['subnetFile'] === 'string' ? raw['subnetFile'] : '/run/flannel/subnet.env';
  const text = ports.files.read(file) ?? '';
  const addresses = [...text.matchAll(/^FLANNEL_(?:IPV6_)?SUBNET=(\S+)$/gm)].flatMap(
    ([, subnet = '']) => Prefix.tryParse(subnet) ?? [],
  );
  return { bridge: nameIn(delegate), addresses };
}

function nameIn({ bridge }: JsonObject): string {
  return typeof bridge === 'string' && bridge !== '' ? bridge : 'cni0';
}

interface Wanted {
  readonly bridge: string;
  readonly address: Prefix;
  readonly network: string;
  readonly file: string;
}

function judge(view: NodeView, { bridge, address, network, file }: Wanted): readonly Finding[] {
  const link = view.links.find(({ name, kind }) => name === bridge && kind === 'bridge');
  if (link === undefined) return [];
  const present = view.addresses
    .filter((each) => each.link === link.index && each.prefix.family === address.family)
    .map(({ prefix }) => prefix)
    .filter(({ addr }) => !addr.isLinkLocal);
  if (present.some((each) => each.equals(address))) return [];
  // The plugin leaves an address of IPv6 beside its own, unless their subnets overlap.
  const inTheWay = present.find((each) => address.family === 4 || each.overlaps(address));
  if (inTheWay === undefined) return [];
  return [
    found(otherAddress, {
      ...{ place: { file }, subject: `network ${network}` },
      what: `${bridge} has the address ${inTheWay}, and ${network} wants ${address} there`,
      consequence: `No container can be attached to ${network}: "already has an IP address different from ${address}".`,
      remedy: `if nobody needs the old address, put the other in its place, and start the containers that have the old one as gateway anew; else give ${network} a "bridge" of its own`,
      // In this order: a gateway that stays the same is never gone.
      commands: [
        commandLine('ip', 'address', 'add', String(address), 'dev', bridge),
        commandLine('ip', 'address', 'del', String(inTheWay), 'dev', bridge),
      ],
    }),
  ];
}

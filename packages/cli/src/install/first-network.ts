/** The network that an installation writes where there is none: a bridge, dual stack, with published ports. */
import { Addr, Prefix } from '@heddle/netaddr';

/** Its name. */
export const FIRST_NETWORK = 'heddle';
/** Its bridge. */
export const FIRST_BRIDGE = 'heddle0';
/** Its file. The number leaves room for others that shall come first. */
export const FIRST_NETWORK_FILE = '10-heddle.conflist';

/**
 * The configuration.
 *
 * Old runtimes read `cniVersion`; those that know `cniVersions` take the newest of them.
 */
export function firstNetwork(subnets: readonly Prefix[]): string {
  const routes = subnets.map(({ family }) => ({
    dst: (family === 4 ? Prefix.DEFAULT4 : Prefix.DEFAULT6).toString(),
  }));
  const ranges = subnets.map((subnet) => [{ subnet: subnet.toString() }]);
  const list = {
    cniVersion: '1.0.0',
    cniVersions: ['1.0.0', '1.1.0'],
    name: FIRST_NETWORK,
    plugins: [
      {
        type: 'bridge',
        bridge: FIRST_BRIDGE,
        isGateway: true,
        ipMasq: true,
        hairpinMode: true,
        ipam: { type: 'host-local', ranges, routes },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
  return `${JSON.stringify(list, null, 2)}\n`;
}

/**
 * A private IPv4 network that this node has no route into, and a random unique local IPv6 one (RFC 4193).
 *
 * @param taken where routes of this node lead, but for the default ones
 * @returns only IPv6 when every candidate is taken
 */
export function chooseSubnets(
  taken: readonly Prefix[],
  randomBytes: (count: number) => Uint8Array,
): readonly Prefix[] {
  const free = CANDIDATES.find((candidate) => !taken.some((each) => each.overlaps(candidate)));
  const bytes = new Uint8Array(16);
  bytes[0] = 0xfd;
  bytes.set(randomBytes(5), 1);
  const local = Prefix.of(Addr.fromBytes(bytes), 64);
  return free === undefined ? [local] : [free, local];
}

const CANDIDATES: readonly Prefix[] = [
  ...Array.from({ length: 10 }, (_, index) => `10.${90 + index}.0.0/16`),
  ...Array.from({ length: 12 }, (_, index) => `172.${20 + index}.0.0/16`),
].map((text) => Prefix.parse(text));

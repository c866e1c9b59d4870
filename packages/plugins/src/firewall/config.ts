/** The configuration of the firewall plugin: its schema, and what its members come to together. */
import { ConfigError, type Result } from '@heddle/cni';
import {
  detectFirewall,
  type FirewallBackend,
  type FirewallOptions,
  type Isolation,
} from '@heddle/dataplane';
import { Addr, Prefix } from '@heddle/netaddr';
import * as v from 'valibot';

/** The members that the firewall plugin reads. */
export const firewallConfig = v.object({
  backend: v.pipe(
    v.optional(v.string(), ''),
    v.description('what lets packets through; firewalld where it runs, else iptables, unless set'),
    v.metadata({ enum: ['', 'firewalld', 'iptables', 'nftables'] }),
  ),
  iptablesAdminChainName: v.pipe(
    v.optional(v.string(), 'CNI-ADMIN'),
    v.description("the operator's chain of iptables, which comes before the rules of pods"),
  ),
  firewalldZone: v.pipe(
    v.optional(v.string(), 'trusted'),
    v.description('the zone of firewalld that addresses are put into'),
  ),
  ingressPolicy: v.pipe(
    v.optional(v.string(), 'open'),
    v.description(
      'whether pods on other bridges (same-bridge), or any (isolated), are kept away from the pod',
    ),
    v.metadata({ enum: ['', 'open', 'same-bridge', 'isolated'] }),
  ),
});

/** A configuration whose members have the right types; what they say is for the functions here to judge. */
export type FirewallConfig = v.InferOutput<typeof firewallConfig>;

/** The backend that the configuration names, or that is found. @param bus the socket of the system's message bus */
export async function backendOf({ backend }: FirewallConfig, bus: string): Promise<FirewallBackend> {
  const named = (['iptables', 'firewalld', 'nftables'] as const).find((each) => each === backend);
  return named ?? detectFirewall(bus);
}

/**
 * Everything that the firewall is to be told.
 *
 * @throws {ConfigError} for an unknown policy, or one without a bridge
 */
export async function firewallOptions(
  config: FirewallConfig,
  result: Result,
  bus: string,
): Promise<FirewallOptions> {
  const isolation = isolationOf(config, result);
  return {
    ...{ backend: await backendOf(config, bus), bus, zone: config.firewalldZone },
    adminChain: config.iptablesAdminChainName === '' ? 'CNI-ADMIN' : config.iptablesAdminChainName,
    ...(isolation !== undefined && { isolation }),
  };
}

/** The bridges that a policy keeps apart; none where it is open. @throws {ConfigError} for an unknown policy */
export function policyOf({ ingressPolicy }: FirewallConfig): Isolation['within'] | undefined {
  switch (ingressPolicy) {
    case '':
    case 'open':
      return undefined;
    case 'same-bridge':
      return 'allowed';
    case 'isolated':
      return 'dropped';
    default:
      throw new ConfigError(`unknown ingress policy: ${JSON.stringify(ingressPolicy)}`, {
        pointer: '/ingressPolicy',
        expected: '"open", "same-bridge" or "isolated"',
        received: JSON.stringify(ingressPolicy),
      });
  }
}

/** All addresses of a result, whatever they are on, each once. */
export function addressesIn({ ips = [] }: Result): readonly Addr[] {
  const texts = new Set(ips.map(({ address }) => String(Prefix.parse(address).addr)));
  return [...texts].map(Addr.parse);
}

/** A result with no addresses but those of one interface, and those that are on none: others may be a later plugin's. */
export function resultOf(result: Result, ifName: string): Result {
  const { ips = [], interfaces = [] } = result;
  const own = ips.filter(({ interface: index }) => index === undefined || interfaces[index]?.name === ifName);
  return { ...result, ips: own };
}

function isolationOf(config: FirewallConfig, { interfaces = [] }: Result): Isolation | undefined {
  const within = policyOf(config);
  if (within === undefined) return undefined;
  const bridge = interfaces[0]?.name;
  if (bridge !== undefined && bridge !== '') return { bridge, within };
  throw new ConfigError(
    `interface needs to be set for ingress policy ${JSON.stringify(config.ingressPolicy)}, make sure to chain "firewall" plugin with "bridge"`,
    { pointer: '/prevResult/interfaces' },
  );
}

/**
 * firewall: lets packets of a container through the node's firewall, and keeps bridges apart. A chained plugin; it
 * passes the result on as it is.
 */
import { ConfigError, type Result, versionsFrom } from '@heddle/cni';
import {
  type AddCall,
  type CheckCall,
  type DelCall,
  definePlugin,
  type GcCall,
  type Plugin,
  type StatusCall,
} from '@heddle/cni/plugin';
import {
  addFirewall,
  checkFirewall,
  type FirewallSurroundings,
  gcFirewall,
  removeFirewall,
  requireFirewall,
  SYSTEM_BUS,
} from '@heddle/dataplane';
import {
  addressesIn,
  backendOf,
  type FirewallConfig,
  firewallConfig,
  firewallOptions,
  policyOf,
  resultOf,
} from './config.ts';

/** The firewall plugin. */
export const firewall = firewallOn(SYSTEM_BUS);

/** The firewall plugin of a machine whose message bus is at this socket. */
export function firewallOn(bus: string): Plugin {
  return definePlugin<FirewallConfig>({
    type: 'firewall',
    kind: 'meta',
    about: "lets a container's packets through the node's firewall",
    versions: versionsFrom('0.4.0'),
    config: firewallConfig,
    add: (call) => add(call, bus),
    del: (call) => del(call, bus),
    check: (call) => check(call, bus),
    gc: (call) => gc(call, bus),
    status: (call) => status(call, bus),
  });
}

async function add(
  { config, host, attachment, prevResult, undo }: AddCall<FirewallConfig>,
  bus: string,
): Promise<Result> {
  const result = requireResult(prevResult);
  const options = await firewallOptions(config, result, bus);
  const addresses = addressesIn(result);
  undo.push('close the firewall', () => removeFirewall(host, attachment, addresses, options));
  await addFirewall(host, attachment, addresses, options);
  return result;
}

/** Needs nothing but the attachment; with the result, it also takes away what the reference's plugin left. */
async function del(
  { config, host, attachment, prevResult, teardown }: DelCall<FirewallConfig>,
  bus: string,
): Promise<void> {
  const addresses = prevResult === undefined ? [] : addressesIn(prevResult);
  await teardown.step('close the firewall', () =>
    removeFirewall(host, attachment, addresses, surroundings(config, bus)),
  );
}

async function check(
  { config, host, ifName, prevResult }: CheckCall<FirewallConfig>,
  bus: string,
): Promise<void> {
  const result = requireResult(prevResult);
  await checkFirewall(
    host,
    addressesIn(resultOf(result, ifName)),
    await firewallOptions(config, result, bus),
  );
}

async function gc(call: GcCall<FirewallConfig>, bus: string): Promise<void> {
  const { config, host, teardown } = call;
  await teardown.step('close the firewall for stale attachments', () =>
    gcFirewall(host, call, surroundings(config, bus)),
  );
}

/** @throws {UnavailableError} code 50 when the backend does not work here; {@link ConfigError} for an unknown policy */
async function status({ config, host }: StatusCall<FirewallConfig>, bus: string): Promise<void> {
  policyOf(config);
  await requireFirewall(host, await backendOf(config, bus), bus);
}

function surroundings({ backend, firewalldZone }: FirewallConfig, bus: string): FirewallSurroundings {
  const mayBeFirewalld = backend !== 'iptables' && backend !== 'nftables';
  return { zone: firewalldZone, ...(mayBeFirewalld && { bus }) };
}

function requireResult(prevResult: Result | undefined): Result {
  if (prevResult !== undefined) return prevResult;
  throw new ConfigError('missing prevResult from earlier plugin', { pointer: '/prevResult' });
}

/**
 * static: gives out the addresses that are written in the configuration, or that the caller names. It keeps
 * nothing, and does not notice when two containers get the same address.
 */
import { atLeast, CNI_CODE, CniError, ConfigError } from '@heddle/cni';
import { type CheckCall, definePlugin } from '@heddle/cni/plugin';
import { Prefix } from '@heddle/netaddr';
import { addressResult } from '../addressing/address-result.ts';
import { addressesOf } from './addresses.ts';
import { type StaticConfig, staticConfig } from './config.ts';

/** The plugin. */
export const staticPlugin = definePlugin({
  type: 'static',
  kind: 'ipam',
  about: 'gives out the addresses that the configuration or the caller names',
  config: staticConfig,
  capabilities: ['ips'],
  argKeys: ['IP', 'GATEWAY'],
  async add(call) {
    const { routes = [], dns } = call.config.ipam ?? {};
    const ips = addressesOf(call).map(({ address, gateway }) => ({
      address: address.toString(),
      ...(gateway !== undefined && { gateway }),
    }));
    if (ips.length === 0 && !atLeast(call.cniVersion, '0.3.0')) {
      throw new ConfigError('cannot convert: no valid IP addresses', {
        pointer: '/ipam/addresses',
        hint: `a result of version ${call.cniVersion} needs an address`,
      });
    }
    return addressResult({ ips, routes, dns });
  },
  check,
  async del() {},
  async gc() {},
  async status({ config, cniVersion }) {
    addressesOf({ config, cniVersion, args: {} });
  },
});

/** CHECK: of the addresses that the attachment has, those with a configured gateway have that one. */
async function check(call: CheckCall<StaticConfig>): Promise<void> {
  const addresses = addressesOf(call);
  const { prevResult, ifName } = call;
  if (prevResult === undefined) throw new CniError(CNI_CODE.INVALID_CONFIG, 'Required prevResult missing');
  for (const { address, gateway } of addresses) {
    if (gateway === undefined) continue;
    const inUse = prevResult.ips?.find((ip) => Prefix.parse(ip.address).addr.equals(address.addr));
    if (inUse !== undefined && inUse.gateway !== gateway) {
      throw new CniError(
        CNI_CODE.DRIFT,
        `static: Failed to match addr ${address.addr} on interface ${ifName}`,
        { cniDetails: `its gateway is ${inUse.gateway ?? 'not set'}, but should be ${gateway}` },
      );
    }
  }
}

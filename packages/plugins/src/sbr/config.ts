/** The configuration of the sbr plugin: its schema, and what its members come to together. */
import { bool, ConfigError, int, ipText } from '@heddle/cni';
import { Addr } from '@heddle/netaddr';
import * as v from 'valibot';

/** The members that the sbr plugin reads. */
export const sbrConfig = v.object({
  table: v.pipe(
    v.optional(int(0, 0xffff_ffff)),
    v.description(
      'a routing table that somebody else fills: only rules into it are made, and the members below do not matter',
    ),
  ),
  gateways: v.pipe(
    v.optional(v.array(ipText()), []),
    v.description('the gateways to use, one of each family, before those of the result'),
  ),
  addSourceHints: v.pipe(
    v.optional(bool, false),
    v.description('whether routes to the networks of the interface in the main table say the source address'),
  ),
});

/** A configuration whose members have the right types; what they say is for the functions here to judge. */
export type SbrConfig = v.InferOutput<typeof sbrConfig>;

/** The gateway to use for each family, instead of those of the result. */
export interface Gateways {
  readonly 4?: Addr;
  readonly 6?: Addr;
}

/**
 * The configured gateways by family.
 *
 * @throws {ConfigError} for what is no address, and for two of one family
 * @example gatewaysOf({ gateways: ['192.0.2.1', '2001:db8::1'], addSourceHints: false })
 */
export function gatewaysOf({ gateways }: SbrConfig): Gateways {
  const found: { 4?: Addr; 6?: Addr } = {};
  for (const [index, text] of gateways.entries()) {
    const pointer = `/gateways/${index}`;
    const gateway = Addr.tryParse(text)?.unmap();
    if (gateway === undefined)
      throw new ConfigError(`invalid gateway address: ${JSON.stringify(text)}`, { pointer });
    const other = found[gateway.family];
    if (other !== undefined) {
      throw new ConfigError(
        `gateways has multiple IPv${gateway.family} addresses, ${other} and ${gateway}: there can be one of each family`,
        { pointer },
      );
    }
    found[gateway.family] = gateway;
  }
  return found;
}

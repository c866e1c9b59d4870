/** Whose name resolution a result carries. */
import type { Dns } from '@heddle/cni';

/** `dns` as a configuration may have it. */
export type ConfiguredDns = { readonly [K in keyof Dns]?: Dns[K] | undefined };

/**
 * The configuration's `dns` when any of its lists is there, be it empty, or a domain is; else the address
 * management plugin's. An empty list so discards what IPAM says.
 */
export function chooseDns(configured: ConfiguredDns | undefined, fromIpam: Dns | undefined): Dns | undefined {
  const { nameservers, domain, search, options } = configured ?? {};
  const says = nameservers !== undefined || search !== undefined || options !== undefined || !!domain;
  if (!says) return fromIpam;
  return {
    ...(nameservers !== undefined && { nameservers }),
    ...(domain !== undefined && { domain }),
    ...(search !== undefined && { search }),
    ...(options !== undefined && { options }),
  };
}

/** The chains that a table of iptables has by itself, as iptables-nft makes them when they are first needed. */
import type { NftHook } from '@heddle/netlink';

/** The tables that Heddle writes to. */
export type TableName = 'filter' | 'nat';

/** Where packets enter a chain, by table and name. Source: linux/netfilter_ipv4.h, enum nf_ip_hook_priorities. */
export const BUILTIN_CHAINS: Readonly<Record<TableName, ReadonlyMap<string, NftHook>>> = {
  filter: new Map([
    ['INPUT', filter('input')],
    ['FORWARD', filter('forward')],
    ['OUTPUT', filter('output')],
  ]),
  nat: new Map([
    ['PREROUTING', nat('prerouting', -100)],
    ['INPUT', nat('input', 100)],
    ['OUTPUT', nat('output', -100)],
    ['POSTROUTING', nat('postrouting', 100)],
  ]),
};

function filter(hook: NftHook['hook']): NftHook {
  return { type: 'filter', hook, priority: 0, policy: 'accept' };
}

function nat(hook: NftHook['hook'], priority: number): NftHook {
  return { type: 'nat', hook, priority, policy: 'accept' };
}

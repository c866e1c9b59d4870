/**
 * The firewall in nftables, for nodes without iptables: another part of our table, built when it is first asked for.
 *
 * ```
 * table inet heddle
 *   set firewall_pods4       pod                    whose packets are accepted, and the answers to them
 *   set firewall_pods6
 *   set isolated_bridges     bridge                 kept apart from one another
 *   set bridges_within       bridge . bridge        the same one twice: its pods may reach each other
 *
 *   chain forward            filter forward 0       isolation; admin; firewall_pods
 *   chain isolation                                 bridges_within; drops what goes to an isolated bridge
 *   chain admin                                     the operator's: empty, and left alone
 * ```
 *
 * An accept ends these chains only; what another table drops stays dropped. It matters where the operator closes this
 * chain: by rules in `admin`, or by `nft chain inet heddle forward '{ policy drop; }'`, which is kept. The rules' version
 * is the comment of the first one in `forward`.
 */
import type { Addr } from '@heddle/netaddr';
import {
  accept,
  add,
  chain,
  concat,
  ct,
  delete_,
  drop,
  element,
  flush,
  ip,
  ip6,
  jump,
  type KernelSession,
  match,
  meta,
  type NftChange,
  type NftElement,
  type NftRule,
  type NftSet,
  ret,
  rule,
  type Statement,
  set,
  setRef,
} from '@heddle/netlink';
import { NAT, TABLE } from '../layout.ts';
import { BASE_CHAINS } from '../numbers.ts';
import type { Isolation } from './forward-rules.ts';

/** The changes that accept addresses and isolate a bridge. */
export async function acceptChanges(
  host: KernelSession,
  addresses: readonly Addr[],
  isolation: Isolation | undefined,
): Promise<readonly NftChange[]> {
  return [
    ...((await hasFirewall(host)) ? [] : structure()),
    ...addresses.map((addr) => add(podElement(addr))),
    ...(isolation === undefined ? [] : await isolate(host, isolation)),
  ];
}

/**
 * The changes that no longer accept addresses, as far as they are accepted: a transaction that the kernel refuses costs
 * it a grace period of RCU, some ten milliseconds.
 */
export function refuseChanges(
  host: KernelSession,
  addresses: readonly Addr[],
): Promise<readonly NftChange[]> {
  return deletionsOf(host, addresses.map(podElement));
}

/** What is missing, in words. */
export async function missingInFirewall(
  host: KernelSession,
  addresses: readonly Addr[],
  isolation: Isolation | undefined,
): Promise<readonly string[]> {
  const missing = (await hasFirewall(host)) ? [] : ['the rules of chain inet heddle forward'];
  for (const each of [
    ...addresses.map(podElement),
    ...(isolation === undefined ? [] : isolationElements(isolation)),
  ]) {
    if ((await host.nft.findElement(each)) === undefined) {
      missing.push(`element ${String(each.key)} of set ${(each.set as NftSet).name}`);
    }
  }
  return missing;
}

const PODS = {
  4: set({ ...NAT, name: 'firewall_pods4', key: 'ipv4_addr' }),
  6: set({ ...NAT, name: 'firewall_pods6', key: 'ipv6_addr' }),
} as const;
const ISOLATED = set({ ...NAT, name: 'isolated_bridges', key: 'ifname' });
const WITHIN = set({ ...NAT, name: 'bridges_within', key: ['ifname', 'ifname'] });

const FORWARD = chain({ ...NAT, name: 'forward', base: BASE_CHAINS.forward });
const ISOLATION = chain({ ...NAT, name: 'isolation' });
const ADMIN = chain({ ...NAT, name: 'admin' });
/** The version of the rules. */
const VERSION = 'firewall 1';

async function hasFirewall({ nft }: KernelSession): Promise<boolean> {
  const rules = await nft.rules({ ...NAT, chain: FORWARD.name });
  return rules.some(({ comment }) => comment === VERSION);
}

function structure(): readonly NftChange[] {
  return [
    add(TABLE),
    ...[PODS[4], PODS[6], ISOLATED, WITHIN].map(add),
    ...[ADMIN, ISOLATION, FORWARD].map(add),
    ...[ISOLATION, FORWARD].map(flush),
    ...rules().map(add),
  ];
}

function rules(): readonly NftRule[] {
  const answers = match(ct.state, 'in', ['established', 'related']);
  return [
    {
      ...ruleIn(FORWARD.name, [match(meta.iifname, 'in', setRef(ISOLATED.name)), jump(ISOLATION.name)]),
      comment: VERSION,
    },
    ruleIn(FORWARD.name, [jump(ADMIN.name)]),
    ...([ip, ip6] as const).flatMap(({ saddr, daddr }, at) => {
      const pods = setRef(PODS[at === 0 ? 4 : 6].name);
      return [
        ruleIn(FORWARD.name, [match(daddr, 'in', pods), answers, accept()]),
        ruleIn(FORWARD.name, [match(saddr, 'in', pods), accept()]),
      ];
    }),
    ruleIn(ISOLATION.name, [match(concat(meta.iifname, meta.oifname), 'in', setRef(WITHIN.name)), ret()]),
    ruleIn(ISOLATION.name, [match(meta.oifname, 'in', setRef(ISOLATED.name)), drop()]),
  ];
}

async function isolate(host: KernelSession, { bridge, within }: Isolation): Promise<readonly NftChange[]> {
  const pair = withinElement(bridge);
  const inside = within === 'allowed' ? [add(pair)] : await deletionsOf(host, [pair]);
  return [add(isolatedElement(bridge)), ...inside];
}

/** The deletions of those elements that are there. */
async function deletionsOf(
  { nft }: KernelSession,
  elements: readonly NftElement[],
): Promise<readonly NftChange[]> {
  const changes: NftChange[] = [];
  for (const each of elements) {
    if ((await nft.findElement(each)) !== undefined) changes.push(delete_(each));
  }
  return changes;
}

function isolationElements({ bridge, within }: Isolation): readonly NftElement[] {
  return [isolatedElement(bridge), ...(within === 'allowed' ? [withinElement(bridge)] : [])];
}

function podElement(addr: Addr): NftElement {
  return element({ ...NAT, set: PODS[addr.family], key: addr });
}

function isolatedElement(bridge: string): NftElement {
  return element({ ...NAT, set: ISOLATED, key: bridge });
}

function withinElement(bridge: string): NftElement {
  return element({ ...NAT, set: WITHIN, key: [bridge, bridge] });
}

function ruleIn(chainName: string, expressions: readonly Statement[]): NftRule {
  return rule({ ...NAT, chain: chainName, expressions });
}

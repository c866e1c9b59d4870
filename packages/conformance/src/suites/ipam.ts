import { Addr, Prefix } from '@heddle/netaddr';
import { allOf, type Check, only, spec } from '../check.ts';
import { must } from '../failure.ts';
import type { Container } from '../lab/container.ts';
import { type Lab, outcome } from '../lab/lab.ts';
import { snapshotOf } from '../lab/snapshot.ts';
import type { Subject } from '../subject/subject.ts';
import { refusal } from './errors.ts';
import { containerUnchanged } from './unchanged.ts';

const allocates = allOf(only('ipam'), (subject: Subject) =>
  subject.allocates ? undefined : 'the plugin gives the addresses that it is told to',
);
const limited = allOf(allocates, ({ setup }) =>
  setup.smallPool === undefined ? 'the kit knows of no configuration with few addresses' : undefined,
);
const ABBREVIATED = spec(
  'Section 5, Delegated plugins (IPAM)',
  'it is missing the `interfaces` array, as well as the `interface` entry in `ips`',
);
/** More than any small pool holds. */
const MANY = 40;

/** Plugins that give addresses. */
export const IPAM_CHECKS: readonly Check[] = [
  {
    id: 'ipam/abbreviated',
    title: 'the result has addresses, and neither interfaces nor places in their list',
    cites: ABBREVIATED,
    why: 'The calling plugin fills them in; others would be taken for its own.',
    skips: only('ipam'),
    async run(lab) {
      const { result, call } = await lab.add(await lab.container());
      must((result.ips?.length ?? 0) > 0, 'at least one address', () => outcome(call), call);
      must(result.interfaces === undefined, 'no interfaces', () => outcome(call), call);
      const placed = result.ips?.filter((ip) => ip.interface !== undefined) ?? [];
      must(placed.length === 0, 'ips without an interface', () => outcome(call), call);
    },
  },
  {
    id: 'ipam/sound-addresses',
    title: 'addresses are of hosts, gateways are of their networks and of nobody else, routes are networks',
    cites: spec('Section 5, ADD Success', 'an IP address in CIDR notation'),
    why: 'The kernel takes some of the rest, and packets get lost.',
    skips: only('ipam'),
    async run(lab) {
      const { result, call } = await lab.add(await lab.container());
      for (const { address, gateway } of result.ips ?? []) {
        const prefix = Prefix.parse(address);
        const isHost = prefix.isSingle || prefix.bits >= prefix.addr.bits - 1 || prefix.hasHostBits;
        must(isHost, `the address of a host`, address, call);
        must(`${prefix.addr}` !== `${prefix.broadcast}`, 'no broadcast address', address, call);
        if (gateway === undefined) continue;
        const by = Addr.parse(gateway);
        // A single address has no network: everything is behind a gateway that is on the link, and on each.
        const isOnLink = prefix.isSingle && by.isLinkLocal;
        must(prefix.contains(by) || isOnLink, `a gateway in ${prefix.masked()}`, gateway, call);
        must(gateway !== `${prefix.addr}`, 'an address that is not the gateway', address, call);
      }
      for (const { dst } of result.routes ?? []) {
        must(!Prefix.parse(dst).hasHostBits, 'a route to a network', dst, call);
      }
    },
  },
  {
    id: 'ipam/touches-nothing',
    title: 'ADD changes nothing in the container',
    cites: spec('Section 4, Plugin Delegation', 'return this information to the "main" plugin to apply'),
    why: 'The calling plugin does, once, at the right moment.',
    skips: only('ipam'),
    async run(lab) {
      const container = await lab.container();
      const before = await snapshotOf(container.namespace);
      await lab.add(container);
      await containerUnchanged(container, before, 'ADD');
    },
  },
  {
    id: 'ipam/unique',
    title: 'attachments get addresses of their own',
    cites: spec('Section 4, Plugin Delegation', 'assign (and maintain) an IP address to the interface'),
    why: 'Two containers with one address take turns at losing packets.',
    skips: allocates,
    async run(lab) {
      const first = await lab.container();
      const all = [first, first.withInterface('net1'), ...(await lab.containers(8))];
      const given: string[] = [];
      for (const container of all) given.push(...(await addressesOf(lab, container)));
      must(new Set(given).size === given.length, 'addresses that all differ', given.join(', '));
    },
  },
  {
    id: 'ipam/no-second',
    title: 'a second ADD of an attachment that has an address takes no further one',
    cites: 'beyond the spec',
    why: 'A runtime that tries again would use up the pool, and DEL gives back but one.',
    skips: allocates,
    async run(lab) {
      const container = await lab.container();
      const [first] = await addressesOf(lab, container);
      const again = await lab.call('ADD', container);
      if (again.exitCode === 0)
        must(again.stdout.includes(`${first}`), `${first} again, or an error`, () => outcome(again), again);
      else refusal(again, 'or the same address');
    },
  },
  {
    id: 'ipam/exhausted',
    title: 'ADD fails in order when no address is left, and works again after a DEL',
    cites: spec(
      'Section 2, DEL',
      'an IPAM plugin should generally release an IP allocation and return success',
    ),
    why: 'A full subnet must be seen, and must recover by itself.',
    skips: limited,
    async run(lab) {
      const options = { config: lab.subject.setup.smallPool ?? {} };
      const holders: Container[] = [];
      for (;;) {
        must(holders.length < MANY, `an error after fewer than ${MANY} ADDs`, 'none');
        const container = await lab.container();
        const call = await lab.call('ADD', container, options);
        if (call.exitCode !== 0) {
          refusal(call, 'for a pool without a free address');
          break;
        }
        holders.push(container);
      }
      const [first] = holders;
      must(first !== undefined, 'at least one address', 'none');
      await lab.del(first, options);
      await lab.add(await lab.container(), options);
    },
  },
  {
    id: 'ipam/try-again',
    title: 'a pool without a free address is error 11: try again later',
    // Section 5 says of code 11 that a plugin can use it, not that it must.
    cites: 'beyond the spec',
    why: 'The runtime may wait for an address; with another code it gives the pod up.',
    skips: limited,
    async run(lab) {
      const options = { config: lab.subject.setup.smallPool ?? {} };
      for (let made = 0; made < MANY; made++) {
        const call = await lab.call('ADD', await lab.container(), options);
        if (call.exitCode === 0) continue;
        const { code } = refusal(call, 'for a pool without a free address');
        must(code === 11, 'error code 11', `${code}`, call);
        return;
      }
    },
  },
  {
    id: 'ipam/releases-its-own',
    title: 'DEL of one attachment leaves the addresses of others taken',
    cites: spec(
      'Section 3, Execution of Network Configurations',
      'uniquely identified by the `(CNI_CONTAINERID, CNI_IFNAME)` tuple',
    ),
    why: 'Else the next container gets an address that is in use.',
    skips: limited,
    async run(lab) {
      const options = { config: lab.subject.setup.smallPool ?? {} };
      const [gone, stays] = await lab.containers(2);
      must(gone !== undefined && stays !== undefined, 'two containers', 'fewer');
      await lab.add(gone, options);
      const { result } = await lab.add(stays, options);
      await lab.del(gone, options);
      const taken = result.ips?.map(({ address }) => address) ?? [];
      for (let made = 0; made < MANY; made++) {
        const call = await lab.call('ADD', await lab.container(), options);
        if (call.exitCode !== 0) return;
        const reused = taken.find((address) => call.stdout.includes(`"${address}"`));
        must(reused === undefined, `${reused} for nobody else`, 'it was given again', call);
      }
    },
  },
];

async function addressesOf(lab: Lab, container: Container): Promise<readonly string[]> {
  const { result } = await lab.add(container);
  return result.ips?.map(({ address }) => address) ?? [];
}

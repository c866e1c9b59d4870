import { isJsonObject, type JsonObject } from '@heddle/cni';
import { Mac, Prefix } from '@heddle/netaddr';
import { type Check, spec } from '../check.ts';
import { DoesNotApply, must } from '../failure.ts';
import type { Container } from '../lab/container.ts';
import { type Added, type Lab, outcome } from '../lab/lab.ts';
import { setDuplicateDetection } from '../lab/namespace.ts';
import { snapshotOf } from '../lab/snapshot.ts';
import type { Subject } from '../subject/subject.ts';
import { refusal } from './errors.ts';
import { secondInterface } from './second-interface.ts';
import { containerUnchanged } from './unchanged.ts';

const makes = (subject: Subject) =>
  subject.makesInterface ? undefined : 'about plugins that make an interface';
const RESULT = 'Section 5, ADD Success';

/** Plugins that make an interface: the result is what the kernel has. */
export const INTERFACE_CHECKS: readonly Check[] = [
  {
    id: 'interface/makes-it',
    title: 'ADD makes the interface in the container, under the name that was asked for, and sets it up',
    cites: spec(
      'Section 2, ADD',
      'create the interface defined by `CNI_IFNAME` inside the container at `CNI_NETNS`',
    ),
    why: 'That is what the plugin is for.',
    skips: makes,
    async run(lab) {
      const { container, call } = await attached(lab);
      const link = await container.namespace.session.links.find(container.ifName);
      must(link !== undefined, `a link ${container.ifName} in the container`, 'none', call);
      must(link.up, `${container.ifName} up`, 'it is down', call);
    },
  },
  {
    id: 'interface/lists-it',
    title: 'the result lists the interface, with CNI_NETNS as its sandbox',
    cites: spec(RESULT, 'this should be the value passed via `CNI_NETNS`'),
    why: 'Later plugins find their interface by it.',
    skips: makes,
    async run(lab) {
      const { container, result, call } = await attached(lab);
      const found = result.interfaces?.find(({ name }) => name === container.ifName);
      must(found !== undefined, `an interface ${container.ifName} in the result`, () => outcome(call), call);
      must(found.sandbox === container.netns, `sandbox ${container.netns}`, `${found.sandbox}`, call);
    },
  },
  {
    id: 'interface/true-interfaces',
    title: 'every interface of the result is there, with the hardware address and MTU that the result says',
    cites: spec(RESULT, 'The hardware address of the interface (if applicable)'),
    why: 'Bandwidth, tuning, policies and neighbours go by these.',
    skips: makes,
    async run(lab) {
      const { container, json, result, call } = await attached(lab);
      must(!saysNoMac(json), 'hardware addresses, or no member mac', 'an empty one', call);
      for (const { name, mac, mtu, sandbox = '' } of result.interfaces ?? []) {
        const { session } = sandbox === '' ? lab.node : container.namespace;
        const link = await session.links.find(name);
        must(link !== undefined, `the link ${name}, which the result lists`, 'none', call);
        if (mac !== undefined) {
          must(Mac.parse(mac).toString() === `${link.mac}`, `${name} with ${mac}`, `${link.mac}`, call);
        }
        if (mtu !== undefined && mtu !== 0)
          must(mtu === link.mtu, `${name} with MTU ${mtu}`, `${link.mtu}`, call);
      }
    },
  },
  {
    id: 'interface/complete',
    title: 'every link that ADD makes for the attachment is in the result',
    cites: spec(
      RESULT,
      'An array of all interfaces created by the attachment, including any host-level interfaces',
    ),
    why: 'Whoever works on the host end, such as bandwidth, cannot find what is not listed.',
    skips: makes,
    async run(lab) {
      await lab.warmUp();
      const container = await lab.container();
      const names = async () => {
        const inside = (await container.namespace.session.links.list()).map(({ name }) => name);
        return [...inside, ...(await lab.node.session.links.list()).map(({ name }) => name)];
      };
      const before = await names();
      const { result, call } = await lab.add(container);
      const listed = result.interfaces?.map(({ name }) => name) ?? [];
      const hidden = (await names()).filter((name) => !before.includes(name) && !listed.includes(name));
      must(hidden.length === 0, 'no link but those of the result', hidden.join(', '), call);
    },
  },
  {
    id: 'interface/true-addresses',
    title: 'the interface has exactly the addresses of the result',
    cites: spec(RESULT, 'IPs assigned by this attachment'),
    why: 'Runtimes tell the cluster what the result says, and packets go to what the kernel has.',
    skips: makes,
    async run(lab) {
      const container = await lab.container();
      await setDuplicateDetection(container.namespace, 'thorough');
      const { result, call } = await lab.add(container);
      const listed = result.interfaces ?? [];
      const said = (result.ips ?? [])
        .filter(({ interface: at }) => at !== undefined && listed[at]?.name === container.ifName)
        .map(({ address }) => address);
      const orphans = (result.ips ?? []).filter(({ interface: at }) => at === undefined);
      must(
        orphans.length === 0,
        'ips that say which interface they are on',
        () => JSON.stringify(orphans),
        call,
      );
      const addresses = await container.namespace.session.addresses.list({ link: container.ifName });
      const there = addresses
        .filter(({ prefix }) => !prefix.addr.isLinkLocal)
        .map(({ prefix }) => `${prefix}`);
      must(equal(said, there), `the addresses ${said.join(', ')}`, there.join(', ') || 'none', call);
      const unusable = addresses.filter(({ dadFailed }) => dadFailed);
      must(unusable.length === 0, 'addresses that can be used', 'a duplicate', call);
    },
  },
  {
    id: 'interface/true-routes',
    title: 'every route of the result is in the container',
    cites: spec(RESULT, 'Routes created by this attachment'),
    why: 'A route that is only said leads nowhere.',
    skips: makes,
    async run(lab) {
      const { container, result, call } = await attached(lab);
      const routes = await container.namespace.session.routes.list();
      for (const { dst, gw } of result.routes ?? []) {
        const wanted = Prefix.parse(dst).masked();
        const found = routes.filter((route) => route.dst.equals(wanted));
        must(found.length > 0, `a route to ${dst}`, 'none', call);
        const ways = found.flatMap(({ gateway, nexthops = [] }) =>
          [gateway, ...nexthops.map((hop) => hop.gateway)].map(String),
        );
        must(gw === undefined || ways.includes(gw), `a route to ${dst} by ${gw}`, ways.join(', '), call);
      }
    },
  },
  {
    id: 'interface/default-gateway',
    title: 'a default route of the result leads by the gateway of its family',
    cites: spec(RESULT, 'If unset, a value in `gateway` in the `ips` array may be used'),
    why: 'Without it nothing leaves the subnet.',
    skips: makes,
    async run(lab) {
      const { container, result, call } = await attached(lab);
      const routes = await container.namespace.session.routes.list();
      for (const { gateway } of result.ips ?? []) {
        if (gateway === undefined) continue;
        const dst = gateway.includes(':') ? '::/0' : '0.0.0.0/0';
        if (!(result.routes ?? []).some((route) => route.dst === dst && route.gw === undefined)) continue;
        const found = routes.find((route) => `${route.dst}` === dst);
        must(`${found?.gateway}` === gateway, `a default route by ${gateway}`, `${found?.gateway}`, call);
      }
    },
  },
  {
    id: 'interface/taken-name',
    title: 'a name that is taken in the container is refused, and whose it is stays untouched',
    cites: spec('Section 2, ADD', 'If an interface of the requested name already exists in the container'),
    why: 'It belongs to another network of the same pod.',
    skips: makes,
    async run(lab) {
      const container = await lab.container();
      const { session } = container.namespace;
      await session.links.add({ kind: 'veth', name: container.ifName, up: true, peer: { name: 'far' } });
      const before = await snapshotOf(container.namespace);
      refusal(await lab.call('ADD', container), 'for a name that is taken');
      await containerUnchanged(container, before, 'the refused ADD');
    },
  },
  {
    id: 'interface/second-interface',
    title: 'a container gets a second interface of the network under another name',
    cites: spec('Section 2, ADD', 'only if each addition is done with a different interface name'),
    why: 'Pods with several networks.',
    skips: makes,
    async run(lab) {
      const container = await lab.container();
      await lab.add(container);
      const [second, options] = await secondInterface(lab, container);
      await lab.add(second, options);
      for (const name of ['eth0', 'net1']) {
        must(await container.namespace.has(name), `a link ${name} in the container`, 'none');
      }
    },
  },
  {
    id: 'interface/odd-names',
    title: 'any name that the kernel takes is taken',
    cites: spec('Section 2, Parameters', 'Name of the interface to create inside the container'),
    why: 'Names come from people and from schedulers.',
    skips: makes,
    async run(lab) {
      for (const ifName of ['fifteen-letters', 'a.b_c', 'ä1', '0']) {
        const container = (await lab.container()).withInterface(ifName);
        const { call } = await lab.add(container);
        must(await container.namespace.has(ifName), `a link ${ifName}`, 'none', call);
        await lab.del(container);
      }
    },
  },
  {
    id: 'interface/removes-it',
    title: 'DEL takes the interface away',
    cites: spec(
      'Section 2, DEL',
      'delete the interface defined by `CNI_IFNAME` inside the container at `CNI_NETNS`',
    ),
    why: 'A container may be taken off a network while it lives.',
    skips: makes,
    async run(lab) {
      const { container } = await attached(lab);
      const call = await lab.del(container);
      must(
        !(await container.namespace.has(container.ifName)),
        `no link ${container.ifName}`,
        'it is there',
        call,
      );
    },
  },
  {
    id: 'interface/only-its-own',
    title: 'DEL of one interface leaves the other one of the container alone',
    cites: spec(
      'Section 3, Execution of Network Configurations',
      'uniquely identified by the `(CNI_CONTAINERID, CNI_IFNAME)` tuple',
    ),
    why: 'Taking a pod off one network must not cut it off the others.',
    skips: (subject) =>
      makes(subject) ??
      (subject.setup.prepareContainer === undefined ? undefined : 'its device is one of a kind'),
    async run(lab) {
      const { container } = await attached(lab);
      const [second, options] = await secondInterface(lab, container);
      const { exitCode } = await lab.call('ADD', second, options);
      if (exitCode !== 0) throw new DoesNotApply('there is no second interface, which another check tells');
      const before = await container.namespace.session.links.find('eth0');
      await lab.del(second, options);
      const after = await container.namespace.session.links.find('eth0');
      must(
        after?.index === before?.index && after?.up === true,
        'eth0 as it was',
        JSON.stringify(after ?? 'gone'),
      );
    },
  },
  {
    id: 'interface/mtu',
    title: 'the MTU of the configuration is that of the interface',
    cites: 'beyond the spec',
    why: 'Tunnels need it; else large packets vanish.',
    skips: (subject) =>
      makes(subject) ??
      (subject.setup.takesMtu === true ? undefined : 'the kit knows of no `mtu` of this plugin'),
    async run(lab) {
      const container = await lab.container();
      const { call } = await lab.add(container, { config: { mtu: 1399 } });
      const link = await container.namespace.session.links.find(container.ifName);
      must(link?.mtu === 1399, 'MTU 1399', `${link?.mtu}`, call);
    },
  },
  {
    id: 'interface/hardware-address',
    title: 'the hardware address that was asked for is that of the interface',
    cites: 'beyond the spec',
    why: 'Virtual machines and licences are bound to it.',
    skips: (subject) =>
      makes(subject) ??
      (subject.setup.takesMac === true ? undefined : 'the kit knows of no such wish of this plugin'),
    async run(lab) {
      const mac = '02:11:22:33:44:55';
      for (const options of [
        { env: { CNI_ARGS: `MAC=${mac}` } },
        { config: { capabilities: { mac: true }, runtimeConfig: { mac } } },
      ]) {
        const container = await lab.container();
        const { call } = await lab.add(container, options);
        const link = await container.namespace.session.links.find(container.ifName);
        must(`${link?.mac}` === mac, mac, `${link?.mac}`, call);
        await lab.del(container);
      }
    },
  },
  {
    id: 'interface/previous-result',
    title: 'a previous result is passed on, with what this plugin has made',
    cites: spec(
      'Section 2, ADD',
      'it MUST handle `prevResult` by either passing it through, or modifying it appropriately',
    ),
    why: 'What an earlier plugin of the chain has made would be forgotten, and never deleted.',
    skips: (subject) =>
      makes(subject) ??
      (subject.speaks('0.4.0') ? undefined : 'the plugin speaks no version with previous results'),
    async run(lab) {
      const container = await lab.container();
      const { version } = lab.subject;
      const earlier = { name: 'early0', sandbox: container.netns };
      const four = version.startsWith('0.') ? { version: '4' } : {};
      const ip = { ...four, address: '192.0.2.7/24', interface: 0 };
      const prevResult = {
        cniVersion: version,
        interfaces: [earlier],
        ips: [ip],
        dns: { search: ['early.example'] },
      };
      const { result, call } = await lab.add(container, { prevResult });
      const names = result.interfaces?.map(({ name }) => name) ?? [];
      must(
        names.includes('early0'),
        'a result that still lists early0',
        names.join(', ') || 'no interfaces',
        call,
      );
      must(
        names.includes(container.ifName),
        `a result that lists ${container.ifName}`,
        names.join(', '),
        call,
      );
      const kept = result.ips?.find(({ address }) => address === '192.0.2.7/24');
      const owner = kept?.interface === undefined ? undefined : result.interfaces?.[kept.interface]?.name;
      must(owner === 'early0', '192.0.2.7/24 still on early0', `${owner ?? 'not listed'}`, call);
    },
  },
];

async function attached(lab: Lab): Promise<Added & { readonly container: Container }> {
  const container = await lab.container();
  return { ...(await lab.add(container)), container };
}

/** Readers of results take an empty text for none; it is none of those that the specification has. */
function saysNoMac({ interfaces }: JsonObject): boolean {
  return Array.isArray(interfaces) && interfaces.some((each) => isJsonObject(each) && each['mac'] === '');
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  return [...a].sort().join() === [...b].sort().join();
}

/** Whether somebody else has an address too. */
import type { Addr, Prefix } from '@heddle/netaddr';
import type { Link } from '@heddle/netlink';
import { SysError } from '@heddle/sys';
import type { Finding } from '../finding.ts';
import { nameOf, openInside, type PodView, promisedAddresses } from '../node/pods.ts';
import type { NodeView } from '../node/view.ts';
import { type AskedLink, type Holders, whoHas } from '../probe/neighbours.ts';
import { found } from '../rule.ts';
import { doctorRule, type NodeCheck } from './check.ts';
import { commandInside } from './put-back.ts';

const duplicate = doctorRule({
  id: 'address/duplicate',
  severity: 'error',
  title: 'Two have the same address',
  explains:
    "Addresses of attachments are compared with each other and with the node's; then each link is asked, by ARP probes and neighbour solicitations, who has its addresses. The probes tell no address of the asker's, so nobody's tables change; sixteen go out at a time. Also told is what the kernel found out itself (`dadfailed`).",
});

/** See the file's comment. */
export const addressesCheck: NodeCheck = {
  rules: [duplicate],
  async look(view) {
    const twice = within(view);
    const known = new Set(twice.map(({ subject }) => subject));
    const asked = await onLinks(view);
    return [...twice, ...failedDetection(view), ...asked.filter(({ subject }) => !known.has(subject))];
  },
};

interface User {
  readonly name: string;
  /** What takes the address from a container that was not given it by ADD. */
  readonly taken?: readonly string[];
}

function takenWithoutAdd(pod: PodView, prefix: Prefix): readonly string[] {
  const { inside, result, attachment } = pod;
  if (inside === undefined || result === undefined || attachment.ifName === null) return [];
  if (promisedAddresses(pod).some((each) => each.equals(prefix.addr))) return [];
  return [commandInside(inside.path, 'ip', 'address', 'del', String(prefix), 'dev', attachment.ifName)];
}

/** Who is on which link of the node, by address. */
function within(view: NodeView): readonly Finding[] {
  const users = new Map<string, User[]>();
  const note = (segment: string, addr: Addr, who: User) => {
    const key = `${segment} ${addr}`;
    users.set(key, [...(users.get(key) ?? []), who]);
  };
  for (const pod of view.pods) {
    const segment = String(segmentOf(pod));
    for (const { prefix } of pod.inside?.addresses ?? []) {
      if (!prefix.addr.isLinkLocal)
        note(segment, prefix.addr, { name: nameOf(pod.attachment), taken: takenWithoutAdd(pod, prefix) });
    }
  }
  const byIndex = new Map(view.links.map((link) => [link.index, link]));
  for (const { link, prefix } of view.addresses) {
    const segment = String(link);
    if (users.has(`${segment} ${prefix.addr}`))
      note(segment, prefix.addr, { name: `the node's ${byIndex.get(link)?.name ?? 'link'}` });
  }
  return [...users].flatMap(([key, who]): readonly Finding[] => {
    const addr = key.split(' ')[1] ?? '';
    const names = [...new Set(who.map(({ name }) => name))];
    if (names.length < 2) return [];
    const commands = who.flatMap(({ taken = [] }) => taken);
    return [{ ...told(addr, `${addr} is on ${names.join(' and on ')}`, []), commands }];
  });
}

/** Attachments on one bridge share a segment; any other link is a segment of its own. */
function segmentOf({ hostLink, attachment }: PodView): number | string {
  return hostLink?.master ?? hostLink?.index ?? `${attachment.network}/${attachment.containerID}`;
}

function failedDetection(view: NodeView): readonly Finding[] {
  return view.pods.flatMap((pod) =>
    (pod.inside?.addresses ?? [])
      .filter(({ dadFailed }) => dadFailed)
      .map(({ prefix: { addr } }) =>
        told(String(addr), `the kernel found that somebody else has ${addr} of ${nameOf(pod.attachment)}`, [
          'dadfailed',
        ]),
      ),
  );
}

async function onLinks(view: NodeView): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const bridged = Map.groupBy(
    view.pods.filter(({ inside, hostLink }) => inside !== undefined && hostLink?.master !== undefined),
    ({ hostLink }) => hostLink?.master ?? 0,
  );
  for (const [index, pods] of bridged) {
    const bridge = view.links.find((link) => link.index === index);
    if (bridge?.mac === undefined || !bridge.up) continue;
    const addresses = pods.flatMap((pod) => globalsOf(pod));
    const holders = await askOn(view, bridge, addresses);
    const found = pods.flatMap((pod) => strangers(pod, bridge.name, holders));
    findings.push(...(await behindPorts(view, bridge, found)));
  }
  // A parent's link does not hear what its own macvlans say: those ask for themselves, of everybody else.
  for (const pod of view.pods.filter(({ inside }) =>
    ['macvlan', 'vlan'].includes(inside?.link?.kind ?? ''),
  )) {
    findings.push(...(await askFromInside(view, pod)));
  }
  return findings;
}

function globalsOf({ inside }: PodView): readonly Addr[] {
  return (inside?.addresses ?? []).flatMap(({ prefix, tentative }) =>
    prefix.addr.isLinkLocal || tentative ? [] : [prefix.addr],
  );
}

async function askOn(
  view: NodeView,
  { index, name, mac }: Link,
  addresses: readonly Addr[],
): Promise<Holders> {
  if (mac === undefined) return new Map();
  return await asked(view, { netns: view.host.handle, index, name, mac }, addresses);
}

async function asked({ ports }: NodeView, link: AskedLink, addresses: readonly Addr[]): Promise<Holders> {
  try {
    return await whoHas(link, addresses, ports);
  } catch (error) {
    // Without the right to send raw packets there is nothing to be found out.
    if (SysError.is(error, 'EPERM', 'EACCES', 'ENETDOWN', 'ENODEV', 'EAFNOSUPPORT')) return new Map();
    throw error;
  }
}

function strangers(pod: PodView, where: string, holders: Holders): readonly Finding[] {
  const own = String(pod.inside?.link?.mac);
  return globalsOf(pod).flatMap((addr): readonly Finding[] => {
    const others = [...(holders.get(String(addr)) ?? [])].filter((mac) => mac !== own);
    if (others.length === 0) return [];
    return [
      told(
        String(addr),
        `${addr} of ${nameOf(pod.attachment)} is also answered for by ${others.join(' and ')} on ${where}`,
        [`the container's own MAC address is ${own}`],
      ),
    ];
  });
}

/** Adds by which port of the bridge a MAC address that a finding names came in: there is who has it. */
async function behindPorts(
  { host, links }: NodeView,
  { index }: Link,
  findings: readonly Finding[],
): Promise<readonly Finding[]> {
  if (findings.length === 0) return [];
  const entries = await host.bridge.fdb({ master: index });
  return findings.map((finding) => {
    const ports = entries
      .filter(({ mac, permanent }) => !permanent && finding.what.includes(String(mac)))
      .flatMap(({ mac, link }) => {
        const name = links.find((each) => each.index === link)?.name;
        return name === undefined ? [] : [`${mac} is behind ${name}`];
      });
    return { ...finding, evidence: [...(finding.evidence ?? []), ...new Set(ports)] };
  });
}

async function askFromInside(view: NodeView, pod: PodView): Promise<readonly Finding[]> {
  if (pod.inside?.link?.mac === undefined || !pod.inside.link.up) return [];
  using session = openInside(pod.inside);
  if (session === undefined) return [];
  const { index, name, mac } = pod.inside.link;
  const holders = await asked(view, { netns: session.handle, index, name, mac }, globalsOf(pod));
  return strangers(pod, name, holders);
}

function told(addr: string, what: string, evidence: readonly string[]): Finding {
  return found(duplicate, {
    ...{ subject: addr, what, evidence },
    consequence: 'Packets for one go to the other, now and then or always: connections hang or are reset.',
    remedy:
      'take the address from whoever was not given it by the network; keep the range of the network out of what others (DHCP, static hosts, other nodes) give out',
  });
}

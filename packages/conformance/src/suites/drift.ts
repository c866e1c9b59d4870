/** Takes away, one kind after the other, what an ADD has made: CHECK is to notice. */
import { rmSync } from 'node:fs';
import { Mac, Prefix } from '@heddle/netaddr';
import { delete_, type KernelSession } from '@heddle/netlink';
import type { Container } from '../lab/container.ts';
import type { Lab } from '../lab/lab.ts';
import { type Matter, missingFrom, type Snapshot, withoutParameters } from '../lab/snapshot.ts';

/** A way to spoil an attachment. */
export interface Drift {
  readonly name: string;
  /** What was spoilt, in words; `undefined` when ADD has made nothing of the kind. */
  readonly spoil: (scene: Scene) => Promise<string | undefined>;
}

/** An attachment, and what ADD has made for it. */
interface Scene {
  readonly lab: Lab;
  readonly container: Container;
  /** Lines that ADD has added. */
  readonly onNode: Snapshot;
  readonly inContainer: Snapshot;
}

/** What is not in results: rules, traffic control, reservations, parameters. */
export const UNTRACKED: readonly Drift[] = [
  {
    name: 'firewall-rules',
    async spoil({ lab, onNode }) {
      if (about(onNode, 'nftables').length === 0) return undefined;
      const { nft } = lab.node.session;
      const tables = await nft.tables();
      await nft.commit(tables.map((table) => delete_(table)));
      return 'all rules of nftables on the node';
    },
  },
  {
    name: 'traffic-control',
    async spoil({ lab, onNode }) {
      const [line] = about(onNode, 'qdisc');
      if (line === undefined) return undefined;
      const { session } = lab.node;
      for (const { link, parent, kind, handle } of await session.qdiscs.list()) {
        if (kind !== 'noqueue' && handle !== 0) await session.qdiscs.delete({ link, parent }).catch(() => {});
      }
      return 'all queueing disciplines on the node';
    },
  },
  {
    name: 'policy-rules',
    async spoil({ container, inContainer }) {
      if (about(inContainer, 'rule').length === 0) return undefined;
      const { rules } = container.namespace.session;
      for (const rule of await rules.list()) {
        if (![0, 32_766, 32_767].includes(rule.priority ?? 0)) await rules.delete(rule);
      }
      return 'the rules of policy routing in the container';
    },
  },
  {
    name: 'reservations',
    async spoil({ onNode, lab }) {
      // What others keep besides is theirs: a backup, a copy of a configuration, what a daemon has in mind anyway.
      if (lab.subject.kind !== 'ipam' || lab.subject.setup.companion !== undefined) return undefined;
      const files = about(onNode, 'file').map((line) => line.replace(/^file /, ''));
      if (files.length === 0) return undefined;
      for (const file of files) rmSync(file, { force: true });
      return `the files ${files.join(', ')}`;
    },
  },
  {
    name: 'kernel-parameters',
    async spoil({ container, inContainer }) {
      const changed = about(inContainer, 'setting').map((line) => line.split(' ')[1] ?? '');
      const [name] = changed;
      if (name === undefined || container.upstream === undefined) return undefined;
      const { sysctl } = container.namespace.session;
      const path = `net/${name}`;
      const value = await sysctl.read(path);
      await sysctl.write(path, value === '0' ? '1' : '0');
      return `the parameter ${name}`;
    },
  },
];

/** What results list. */
export const TRACKED: readonly Drift[] = [
  {
    name: 'interface',
    async spoil({ container }) {
      await container.namespace.session.links.delete(container.ifName);
      return `the link ${container.ifName}`;
    },
  },
  {
    name: 'address',
    async spoil({ container }) {
      const { session } = container.namespace;
      const [address] = await global(session, container.ifName);
      if (address === undefined) return undefined;
      await session.addresses.delete({ link: container.ifName, prefix: address });
      return `the address ${address}`;
    },
  },
  {
    name: 'route',
    async spoil({ container }) {
      const { session } = container.namespace;
      const route = (await session.routes.list()).find(({ dst }) => dst.equals(Prefix.DEFAULT4));
      if (route === undefined) return undefined;
      await session.routes.delete({ dst: route.dst, gateway: route.gateway, link: route.link });
      return 'the default route of IPv4';
    },
  },
  {
    name: 'hardware-address',
    async spoil({ container, lab }) {
      const listed = container.result?.['interfaces'];
      if (!JSON.stringify(listed ?? '').includes('"mac"') || lab.subject.kind !== 'interface')
        return undefined;
      const { session } = container.namespace;
      const before = await session.links.find(container.ifName);
      if (before?.mac === undefined || before.kind === 'ipvlan') return undefined;
      await session.links.set(container.ifName, { mac: Mac.parse('02:99:88:77:66:55') });
      return 'the hardware address';
    },
  },
];

/** Lines of one matter. */
function about(lines: Snapshot, matter: Matter): Snapshot {
  return lines.filter((line) => line.startsWith(`${matter} `));
}

/** What ADD has added, given looks before and after; a link that it made, without the parameters that come with one. */
export function added(before: Snapshot, after: Snapshot): Snapshot {
  return withoutParameters(missingFrom(before, after));
}

async function global(session: KernelSession, link: string): Promise<readonly Prefix[]> {
  const addresses = await session.addresses.list({ link });
  return addresses.filter(({ prefix }) => !prefix.addr.isLinkLocal).map(({ prefix }) => prefix);
}

/** What is on a node or in a container, as lines that differ exactly when something was added, changed or left. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KernelSession, Link } from '@heddle/netlink';
import { OWN_DIRECTORY } from './house.ts';
import type { Namespace } from './namespace.ts';
import { settings } from './settings.ts';

/** What a line is about. */
export type Matter =
  | 'link'
  | 'address'
  | 'route'
  | 'rule'
  | 'neighbour'
  | 'fdb'
  | 'nftables'
  | 'qdisc'
  | 'filter'
  | 'setting'
  | 'file'
  | 'lease';

/** A look at a namespace, or at files: lines such as `link eth0 …`. */
export type Snapshot = readonly string[];

/** A full look at a namespace. What changes by itself (counters, ages, carrier, link-local addresses) is left out. */
export async function snapshotOf(namespace: Namespace): Promise<Snapshot> {
  const { session } = namespace;
  const links = await session.links.list();
  const nameOf = (index: number | undefined): string =>
    links.find((link) => link.index === index)?.name ?? `#${index ?? '-'}`;
  const line = (matter: Matter, ...words: readonly unknown[]) => `${matter} ${words.map(text).join(' ')}`;
  const addresses = await session.addresses.list();
  const routes = (await session.routes.list()).filter(
    ({ type, flags, table, protocol }) =>
      type !== 'multicast' && (flags & CLONED) === 0 && !(table === LOCAL && protocol === KERNEL),
  );
  // The kernel makes one of each family with the first VRF, and keeps it.
  const rules = (await session.rules.list()).filter(({ l3mdev, protocol }) => !l3mdev || protocol !== KERNEL);
  const neighbours = (await session.neighbours.list()).filter(({ state }) => (state & PERMANENT) !== 0);
  const qdiscs = (await session.qdiscs.list()).filter(({ kind }) => kind !== 'noqueue');
  return [
    ...links.map((link) => line('link', link.name, linkText(link, nameOf))),
    ...addresses.map(({ link, prefix, peer, scope }) =>
      line('address', nameOf(link), prefix, { peer, scope }),
    ),
    ...routes.map(({ dst, link, gateway, table, metric, scope, type, source, protocol, nexthops }) =>
      line('route', dst, {
        dev: nameOf(link),
        gateway,
        table,
        metric,
        scope,
        type,
        source,
        protocol,
        nexthops,
      }),
    ),
    ...rules.map((rule) => line('rule', rule)),
    ...neighbours.map(({ link, address, mac }) => line('neighbour', nameOf(link), address, mac)),
    ...(await fdbLines(session, nameOf)).map((words) => line('fdb', ...words)),
    ...qdiscs.map(({ link, kind, parent, handle, tbf, htb }) =>
      line('qdisc', nameOf(link), kind, parent, handle, tbf ?? htb ?? ''),
    ),
    ...(await filterLines(session, qdiscs, nameOf)).map((words) => line('filter', ...words)),
    ...(await ruleset(session)).map((words) => line('nftables', ...words)),
    ...settings(namespace, links).map(([name, value]) => line('setting', name, '=', value)),
  ].filter((each) => !/\bfe80:|\bff00::\/8|\b33:33:|\b01:00:5e:/.test(each));
}

/** The files below some directories, by path; what is in them is left out. */
export function filesIn(directories: readonly string[]): Snapshot {
  return directories.flatMap((directory) => {
    const names = readdirSync(directory).filter((name) => !NO_FILES.includes(join(directory, name)));
    const paths = names.sort().map((name) => join(directory, name));
    return paths
      .flatMap((path) => [path, ...below(path)])
      .flatMap((path) => (isFile(path) ? [`file ${path}`] : []));
  });
}

/** Mounts, the locks of iptables, and the kit itself. */
const NO_FILES: readonly string[] = ['/run/netns', '/run/lock', OWN_DIRECTORY];

function below(path: string): readonly string[] {
  if (isFile(path)) return [];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return names.sort().map((name) => join(path, name));
}

/** Whether something is there that is no directory. */
function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
}

/**
 * The lines that only one of two snapshots has, `- ` before what went, `+ ` before what came. The parameters of a link
 * that came or went are left out.
 */
export function differences(before: Snapshot, after: Snapshot): Snapshot {
  const gone = missingFrom(after, before);
  const come = missingFrom(before, after);
  return [
    ...withoutParameters(gone).map((line) => `- ${line}`),
    ...withoutParameters(come).map((line) => `+ ${line}`),
  ];
}

/** Without the parameters of links that are among the lines: they come and go with these. */
export function withoutParameters(lines: Snapshot): Snapshot {
  const links = lines.flatMap((line) => /^link (\S+)/.exec(line)?.[1] ?? []);
  return lines.filter(
    (line) => !links.some((link) => /^setting ipv[46]\/conf\/(.+)\/\S+ =/.exec(line)?.[1] === link),
  );
}

/** The lines of `lines` that `from` lacks; of equal ones each counts. */
export function missingFrom(from: Snapshot, lines: Snapshot): Snapshot {
  const counts = new Map<string, number>();
  for (const line of from) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = counts.get(line) ?? 0;
    counts.set(line, count - 1);
    return count <= 0;
  });
}

/** RTM_F_CLONED — linux/rtnetlink.h */
const CLONED = 0x200;
/** RT_TABLE_LOCAL, RTPROT_KERNEL: routes that the kernel makes of addresses, in its own time. */
const LOCAL = 255;
const KERNEL = 2;
/** NUD_PERMANENT — linux/neighbour.h */
const PERMANENT = 0x80;

/** What a bridge's ports decide for it is not compared. */
function linkText(link: Link, nameOf: (index: number | undefined) => string): string {
  const { kind = '', up, mac, mtu, master, alias = '', promiscuity, allmulti, txQueueLength } = link;
  const own = kind === 'bridge' ? '' : `${mac ?? ''} mtu ${mtu} qlen ${txQueueLength}`;
  const state = [
    up ? 'up' : 'down',
    ...(promiscuity > 0 ? ['promiscuous'] : []),
    ...(allmulti ? ['allmulti'] : []),
  ];
  return [kind, state.join(' '), own, master === undefined ? '' : `master ${nameOf(master)}`, alias]
    .filter((word) => word !== '')
    .join(' ');
}

async function fdbLines(
  session: KernelSession,
  nameOf: (index: number | undefined) => string,
): Promise<readonly (readonly unknown[])[]> {
  const entries = await session.bridge.fdb();
  return entries
    .filter(({ state }) => (state & PERMANENT) !== 0)
    .map(({ link, mac, vlan, dst }) => [nameOf(link), mac, { vlan, dst }]);
}

async function filterLines(
  session: KernelSession,
  qdiscs: readonly { readonly link: number; readonly handle: number }[],
  nameOf: (index: number | undefined) => string,
): Promise<readonly (readonly unknown[])[]> {
  const lines: (readonly unknown[])[] = [];
  for (const { link, handle } of qdiscs) {
    for (const filter of await session.filters.list({ link, parent: handle })) {
      const { kind, priority, protocol, u32, matchall } = filter;
      lines.push([nameOf(link), kind, priority, protocol, u32 ?? matchall ?? '']);
    }
  }
  return lines;
}

async function ruleset({ nft }: KernelSession): Promise<readonly (readonly unknown[])[]> {
  const lines: (readonly unknown[])[] = [];
  for (const { family, name: table } of await nft.tables()) {
    const at = [family, table] as const;
    lines.push([...at]);
    for (const { name, base } of await nft.chains({ family, table }))
      lines.push([...at, 'chain', name, base ?? '']);
    for (const { chain, expressions, comment = '' } of await nft.rules({ family, table })) {
      lines.push([...at, 'rule', chain, comment, expressions.map(withoutCounts)]);
    }
    for (const { name } of await nft.sets({ family, table })) {
      lines.push([...at, 'set', name]);
      for (const { key, data } of await nft.elements({ family, table, set: name })) {
        lines.push([...at, 'element', name, key, data ?? '']);
      }
    }
  }
  return lines;
}

function withoutCounts(expression: { readonly expr: string }): unknown {
  return expression.expr === 'counter' ? 'counter' : expression;
}

/** Words of a line; objects as JSON without what is not set. */
function text(word: unknown): string {
  if (typeof word !== 'object' || word === null) return String(word);
  const json = JSON.stringify(word, (_, value) => {
    if (typeof value === 'bigint') return `${value}`;
    return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
  });
  return json.startsWith('"') ? json.slice(1, -1) : json;
}

/** The content of a file, or nothing where there is none. */
export function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

import { inspectStore, repairStore } from '@heddle/ipam/blocks';
import { openSession } from '@heddle/netlink';
import { type Cli, type CommonFlags, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type ClusterStore, openClusterStore, STORE_FLAGS, type StoreFlags } from '../ipam/cluster-store.ts';
import { releaseLeaked, releaseNamed, unusedHandles } from '../ipam/release.ts';
import { inspectionText, usesOfNodes } from '../ipam/text.ts';
import { emit } from '../output/emit.ts';

const ACTIONS = ['show', 'check', 'release', 'repair'] as const;
type Action = (typeof ACTIONS)[number];

interface IpamFlags extends CommonFlags, StoreFlags {
  readonly leaked?: boolean;
  readonly seconds: number;
  readonly force?: boolean;
}

/** `heddle ipam`: the addresses of a cluster. */
export const ipamCommand = defineCommand<IpamFlags, [Action, ...string[]]>({
  name: 'ipam',
  group: 'See what is attached',
  brief: "show, check and mend the cluster's addresses",
  about: [
    '`show` says how full pools, blocks and nodes are; with -o wide also which block is whose, and who holds which address.',
    '`check` looks for what does not fit together in the store (exit code 5), and for addresses of this node whose ' +
      'attachment is not there (exit code 4): no link on the host is its, and its network namespace is gone. One look does ' +
      'not prove that an address is leaked.',
    '`release --leaked` takes two looks, --seconds apart, and gives back what both find unused; the agent does the same by ' +
      'itself. `release HANDLE…` gives back at once what handles of this node hold, unless their attachments may be there.',
    '`repair` makes the store fit together again. It frees nothing: what one side says is held, the other is made to say too.',
  ],
  examples: [
    { command: 'heddle ipam show', what: 'shows how full pools and nodes are' },
    { command: 'heddle ipam check', what: 'says what does not fit together, and what may be leaked' },
    {
      command: 'heddle ipam release --leaked',
      what: 'gives back what is leaked for certain, in a quarter of an hour',
    },
    {
      command: 'heddle ipam show --store etcd://192.0.2.1:2379 -o json',
      what: 'reads the store of a cluster that this machine is no node of',
    },
  ],
  usage: 'show|check|release|repair [flag]... [handle]...',
  json: `type Output = Show | Check | Release | Repair;
interface Show {
  mode: 'blocks' | 'cluster-pool' | 'node-subnets';
  ahead: number | null; // in the mode cluster-pool: what nodes have besides what is in use
  pools: {
    pool: string;
    cidr: string;
    addresses: string; // a number that may be larger than JSON's are exact
    held: number;
    blocksFree: string;
    blocks: { cidr: string; node: string | null; held: number; borrowed: number; free: number }[];
  }[];
  nodes: { node: string; blocks: number; held: number; free: number }[];
  handles: { handle: string; node: string; pod: string | null; addresses: string[] }[];
}
interface Check { problems: string[]; unused: { handle: string; addresses: string[] }[] }
interface Release { released: { handle: string; addresses: string[] }[] }
interface Repair { mended: string[]; left: string[] }`,
  hasWide: true,
  parameters: {
    flags: {
      ...STORE_FLAGS,
      leaked: {
        kind: 'boolean',
        brief: 'release: what two looks find unused',
        optional: true,
        withNegated: false,
      },
      seconds: {
        kind: 'parsed',
        parse: seconds,
        brief: 'release: how far apart the two looks are',
        placeholder: 'seconds',
        default: '900',
      },
      force: {
        kind: 'boolean',
        brief: 'release: handles whose attachments may be there',
        optional: true,
        withNegated: false,
      },
    },
    positional: {
      kind: 'array',
      parameter: {
        placeholder: 'action',
        parse: String,
        brief: `${ACTIONS.join(', ')}; then handles to release`,
      },
      minimum: 1,
    },
  },
  async run(cli, flags, word, ...handles) {
    const action = actionOf(word);
    if (action !== 'release' && handles.length > 0)
      throw new SyntaxError(`"ipam ${action}" takes no handles`);
    await using cluster = await openClusterStore(flags);
    switch (action) {
      case 'show':
        return await show(cli, flags, cluster);
      case 'check':
        return await check(cli, flags, cluster);
      case 'release':
        return await release(cli, flags, cluster, handles);
      case 'repair':
        return await repair(cli, flags, cluster);
    }
  },
});

async function show(cli: Cli, flags: IpamFlags, { store }: ClusterStore): Promise<undefined> {
  const inspection = await inspectStore(store);
  const { mode, ahead } = inspection.settings;
  const json = () => ({
    mode,
    ahead: mode === 'cluster-pool' ? ahead : null,
    pools: inspection.pools.map(({ addresses, blocksFree, blocks, ...pool }) => ({
      ...{ ...pool, addresses: `${addresses}`, blocksFree: `${blocksFree}` },
      blocks: blocks.map(({ node, ...block }) => ({ ...block, node: node ?? null })),
    })),
    nodes: usesOfNodes(inspection),
    handles: inspection.handles.map(({ handle, node, pod, addresses }) => ({
      ...{ handle, node, pod: pod ?? null },
      addresses: addresses.map(({ addr }) => addr),
    })),
  });
  emit(cli, flags, json, (styled) => inspectionText(inspection, flags.output === 'wide', styled));
  return undefined;
}

async function check(cli: Cli, flags: IpamFlags, cluster: ClusterStore): Promise<number | undefined> {
  using host = openSession({ mode: 'threaded' });
  const { problems } = await inspectStore(cluster.store);
  const suspects = cluster.name === undefined ? [] : await unusedHandles(cluster.member(cli.now), host);
  const unused = suspects.map(({ handle, addresses }) => ({
    handle,
    addresses: addresses.map(({ addr }) => `${addr}`),
  }));
  emit(
    cli,
    flags,
    () => ({ problems, unused }),
    () =>
      problems.length + unused.length === 0
        ? 'all fits together\n'
        : [
            ...problems.map((each) => `${each}\n`),
            ...unused.map(
              ({ handle, addresses }) =>
                `${addresses.join(', ')} of ${handle}: its attachment is not there\n`,
            ),
          ].join(''),
  );
  return problems.length > 0 ? EXIT.FOUND_ERRORS : unused.length > 0 ? EXIT.FOUND_WARNINGS : undefined;
}

async function release(
  cli: Cli,
  flags: IpamFlags,
  cluster: ClusterStore,
  handles: readonly string[],
): Promise<undefined> {
  if ((flags.leaked === true) === handles.length > 0) {
    throw new SyntaxError('release takes either --leaked or the names of handles');
  }
  using host = openSession({ mode: 'threaded' });
  const member = cluster.member(cli.now);
  const tell = (count: number) =>
    cli.stderr.write(`${count} handles have no attachment; looking again in ${flags.seconds} s\n`);
  const released =
    flags.leaked === true
      ? await releaseLeaked(member, host, { seconds: flags.seconds, tell })
      : await releaseNamed(member, host, handles, flags.force === true);
  emit(
    cli,
    flags,
    () => ({ released }),
    () =>
      released.map(({ handle, addresses }) => `gave back ${addresses.join(', ')} of ${handle}\n`).join('') ||
      'gave back nothing\n',
  );
  return undefined;
}

async function repair(cli: Cli, flags: IpamFlags, { store }: ClusterStore): Promise<number | undefined> {
  const { mended, left } = await repairStore(store);
  emit(
    cli,
    flags,
    () => ({ mended, left }),
    () =>
      [...mended.map((each) => `mended: ${each}\n`), ...left.map((each) => `left: ${each}\n`)].join('') ||
      'all fits together\n',
  );
  return left.length > 0 ? EXIT.FAILED : undefined;
}

function actionOf(text: string): Action {
  const found = ACTIONS.find((each) => each === text);
  if (found === undefined) throw new SyntaxError(`there is nothing like "ipam ${text}"`);
  return found;
}

function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new SyntaxError(`${text} are no seconds`);
  return value;
}

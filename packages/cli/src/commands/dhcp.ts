import { randomInt } from 'node:crypto';
import { askDaemon, bootClock } from '@heddle/dhcp';
import { DEFAULT_SOCKET } from '@heddle/dhcp/places';
import { type CommonFlags, defineCommand } from '../command.ts';
import { formatAge } from '../output/age.ts';
import { emit } from '../output/emit.ts';
import { type Column, formatTable } from '../output/table.ts';
import type { Surroundings } from '../surroundings.ts';

interface DhcpFlags extends CommonFlags {
  readonly socket?: string;
}

/** `heddle dhcp`: the daemon of the plugin `dhcp`, and what it keeps. */
export const dhcpCommand = defineCommand<DhcpFlags, ['leases']>({
  name: 'dhcp',
  group: 'Set up this node',
  brief: 'keep the leases of the plugin dhcp, or list them',
  about: [
    'The plugin dhcp needs a daemon that keeps the leases for as long as the containers live. `heddle dhcp daemon` is ' +
      "that daemon. Its flags are written as the reference's are: `-socketpath P`, `-pidfile P`, `-timeout 10s`; " +
      '`heddle dhcp daemon -help` lists them. It ends with SIGTERM, and goes on with its leases when it starts again.',
    '`heddle dhcp leases` lists the leases that a daemon keeps. STATE is "bound", "renewing", "rebinding", or why the ' +
      'lease is lost: "expired", "refused".',
  ],
  examples: [
    { command: 'heddle dhcp daemon', what: 'keeps leases until it is told to end' },
    { command: 'heddle dhcp leases', what: 'shows who has which address, from which server, for how long' },
  ],
  usage: 'leases [--socket path] | daemon [flags]',
  json: `// leases
interface Output {
  leases: {
    network: string;
    containerID: string;
    ifName: string;
    state: 'bound' | 'renewing' | 'rebinding' | 'expired' | 'refused';
    address: string; // with its prefix length
    server: string;
    expiresIn: number | null; // seconds; null for never
  }[];
}`,
  parameters: {
    flags: {
      socket: {
        kind: 'parsed',
        parse: String,
        brief: `where the daemon listens (default ${DEFAULT_SOCKET})`,
        placeholder: 'path',
        optional: true,
      },
    },
    positional: {
      kind: 'tuple',
      parameters: [
        {
          placeholder: 'leases',
          parse: theWord('leases'),
          brief: 'what to do; or daemon, with flags of its own',
        },
      ],
    },
  },
  async run(cli, flags) {
    const now = bootClock.now();
    const statuses = await askDaemon(flags.socket ?? DEFAULT_SOCKET, { ask: 'list' });
    const leases = statuses.map(({ owner, state, lease }) => ({
      ...owner,
      state,
      address: `${lease.prefix}`,
      server: `${lease.server}`,
      expiresIn:
        lease.expiresAt === Infinity ? null : Math.max(0, Math.round((lease.expiresAt - now) / 1000)),
    }));
    emit(
      cli,
      flags,
      () => ({ leases }),
      (styled) => (leases.length === 0 ? 'no leases\n' : formatTable<ListedLease>(COLUMNS, leases, styled)),
    );
    return undefined;
  },
});

/** True for the command line of the daemon, whose flags are no business of the command's own. */
export function isDaemonLine(args: readonly string[]): boolean {
  return args[0] === 'dhcp' && args[1] === 'daemon';
}

/** Runs the daemon; see {@link isDaemonLine}. */
export async function keepLeases(
  args: readonly string[],
  { env, stderr, signals }: Surroundings,
): Promise<number> {
  const { runDaemon } = await import('@heddle/dhcp/daemon');
  let stop = () => {};
  using _signals = signals.listen(['SIGINT', 'SIGTERM'], () => stop());
  return await runDaemon(args.slice(2), {
    env,
    pid: process.pid,
    stderr: (text) => stderr.write(text),
    random: () => randomInt(2 ** 32) / 2 ** 32,
    onStop: (end) => {
      stop = end;
    },
  });
}

interface ListedLease {
  readonly network: string;
  readonly containerID: string;
  readonly ifName: string;
  readonly state: string;
  readonly address: string;
  readonly server: string;
  readonly expiresIn: number | null;
}

const COLUMNS: readonly Column<ListedLease>[] = [
  { title: 'NETWORK', value: ({ network }) => network },
  { title: 'CONTAINER', value: ({ containerID }) => containerID },
  { title: 'INTERFACE', value: ({ ifName }) => ifName },
  { title: 'ADDRESS', value: ({ address }) => address },
  { title: 'SERVER', value: ({ server }) => server },
  { title: 'STATE', value: ({ state }) => state },
  {
    title: 'EXPIRES IN',
    value: ({ expiresIn }) => (expiresIn === null ? 'never' : formatAge(expiresIn * 1000)),
    align: 'right',
  },
];

function theWord<W extends string>(word: W): (text: string) => W {
  return (text) => {
    if (text === word) return word;
    throw new Error(`expected ${word} or daemon`);
  };
}

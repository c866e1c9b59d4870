/** `dhcp daemon`: the program that keeps leases, with the reference's flags. */
import { rmSync, writeFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { HeddleError } from '@heddle/errors';
import type { Random, Timing } from '../client/ports.ts';
import { DhcpError } from '../dhcp-error.ts';
import { bootClock, bootId } from '../kernel/boot-clock.ts';
import { KernelInterface, locate, type Place } from '../kernel/interface.ts';
import { fileLeaseStore, leaseDirectory } from '../leases/lease-store.ts';
import { LeaseTable } from '../leases/lease-table.ts';
import { DEFAULT_SOCKET, DEFAULT_STATE_DIR } from '../places.ts';
import { describeGoFlags, type GoFlagValues, HelpRequested, parseGoFlags } from './go-flags.ts';
import { activatedSocket, listen } from './listen.ts';
import { daemonServer } from './server.ts';

/** The process that the daemon runs in. */
export interface DaemonIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  /** Writes to stderr. */
  readonly stderr: (text: string) => void;
  readonly random: Random;
  /** Has a function called when the daemon is to end (SIGINT, SIGTERM). */
  readonly onStop: (stop: () => void) => void;
}

/**
 * Runs the daemon until it is told to end.
 *
 * @param args the words behind `dhcp daemon`
 * @returns the exit status: 0, 1 when it could not run, 2 for wrong flags
 * @example process.exit(await runDaemon(['-socketpath', '/run/x.sock'], io));
 */
export async function runDaemon(args: readonly string[], io: DaemonIo): Promise<number> {
  const log = (message: string) => io.stderr(`dhcp: ${message.replaceAll('\n', '; ')}\n`);
  let flags: Flags;
  try {
    flags = parseGoFlags(FLAGS, args);
  } catch (error) {
    if (!(error instanceof DhcpError)) throw error;
    const help = error instanceof HelpRequested;
    io.stderr(`${help ? '' : `${error.message}\n`}${describeGoFlags('daemon', FLAGS)}`);
    return help ? 0 : 2;
  }
  try {
    await serve(flags, io, log);
    return 0;
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    log(error.message);
    return 1;
  }
}

/** The flags; those of the reference, `statedir` and `probe`. */
const FLAGS = {
  pidfile: { kind: 'string', value: '', usage: 'optional path to write daemon PID to' },
  hostprefix: { kind: 'string', value: '', usage: 'optional prefix to host root' },
  socketpath: { kind: 'string', value: DEFAULT_SOCKET, usage: 'optional dhcp server socketpath' },
  broadcast: { kind: 'boolean', value: false, usage: 'ask servers to broadcast their answers' },
  timeout: { kind: 'duration', value: 1000, usage: 'how long the first answer to a message is waited for' },
  resendmax: { kind: 'duration', value: 62_000, usage: 'the longest wait before a message is sent again' },
  resendtimeout: { kind: 'duration', value: 208_000, usage: 'how long getting a lease may take in all' },
  statedir: { kind: 'string', value: DEFAULT_STATE_DIR, usage: 'where leases are kept over a restart' },
  probe: {
    kind: 'duration',
    value: 200,
    usage: 'how long to look for another owner of an address; 0 for not at all',
  },
} as const;

type Flags = GoFlagValues<typeof FLAGS>;

async function serve(flags: Flags, io: DaemonIo, log: (message: string) => void): Promise<void> {
  const { pidfile, hostprefix, socketpath } = flags;
  const activated = activatedSocket(io);
  const stopped = Promise.withResolvers<void>();
  io.onStop(() => stopped.resolve());
  if (pidfile !== '') writePid(pidfile, io.pid);
  const table = leaseTable(flags, io, log);
  const ready = Promise.withResolvers<LeaseTable>();
  const server = daemonServer({ table: ready.promise, hostPrefix: hostprefix, log });
  let unlink = () => {};
  try {
    // Whoever listens is the only one who keeps the leases; so first listen, then go on with them.
    unlink = await listen(server, hostprefix + socketpath, activated);
    await table.resume();
    ready.resolve(table);
    await stopped.promise;
  } finally {
    server.close();
    unlink();
    await table.stop();
    if (pidfile !== '') rmSync(pidfile, { force: true });
  }
}

function leaseTable(flags: Flags, { random }: DaemonIo, log: (message: string) => void): LeaseTable {
  const { timeout, resendmax, resendtimeout, probe, broadcast, hostprefix, statedir, socketpath } = flags;
  const timing: Timing = { timeout, resendMax: resendmax, resendTimeout: resendtimeout, probe };
  const ports = {
    clock: bootClock,
    random,
    boot: bootId(),
    store: fileLeaseStore(leaseDirectory(hostprefix + statedir, socketpath), log),
    locate,
    interfaceAt: (place: Place) => new KernelInterface(place, bootClock),
    log,
  };
  return new LeaseTable(ports, { timing, broadcast });
}

function writePid(path: string, pid: number): void {
  if (!isAbsolute(path))
    throw new DhcpError('DHCP_USAGE', `Error writing pidfile "${path}": path not absolute`);
  try {
    writeFileSync(path, `${pid}`, { mode: 0o644 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new DhcpError('DHCP_USAGE', `Error writing pidfile "${path}": ${why}`, { cause: error });
  }
}

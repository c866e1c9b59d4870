/** The one that stays: `dhcp daemon`, as the units of the reference start it. */
import { runDaemon } from '@heddle/dhcp/daemon';
import { writeBestEffort } from './descriptors.ts';

/** Runs the daemon until a signal ends it, and then the process. */
export async function keepLeases(args: readonly string[]): Promise<never> {
  const exitCode = await runDaemon(args, {
    env: process.env,
    pid: process.pid,
    stderr: (text) => writeBestEffort(2, text),
    random: () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32,
    onStop: (stop) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
    },
  });
  process.exit(exitCode);
}

/**
 * Runs a command in the lab, a machine with a stock kernel that sees all files of this one and changes none of them:
 *
 *   node scripts/lab/main.ts [COMMAND [ARGUMENT…]]
 *
 * Without a command it is a shell. The exit status is the command's.
 */
import { runInGuest } from './boot.ts';
import { fetchKernel } from './kernel.ts';

const command = process.argv.slice(2);
const terminal = command.length === 0;
// A serial line does not know the size of the terminal behind it.
const { columns, rows } = process.stdout;
const shell = ['sh', '-c', `stty columns ${columns || 80} rows ${rows || 24}; exec bash -i`];

process.exitCode = await runInGuest(fetchKernel(), {
  command: terminal ? shell : command,
  directory: process.cwd(),
  environment: {
    PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: process.env['HOME'] ?? '/root',
    TERM: process.env['TERM'] ?? 'dumb',
  },
  terminal,
  onOutput: (bytes) => process.stdout.write(bytes),
  onError: (bytes) => process.stderr.write(bytes),
  onReport: (bytes) => process.stderr.write(bytes),
});

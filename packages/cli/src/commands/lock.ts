import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  formatLock,
  kernelFeatures,
  type Lock,
  nodeFiles,
  signLock,
  systemPrograms,
  type Taken,
  takeLock,
} from '@heddle/doctor';
import { type Cli, type CommonFlags, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { refusePlace, writeLock } from '../lock/write.ts';
import { emit } from '../output/emit.ts';
import { CommandError } from '../output/report-error.ts';
import { configDir } from '../request/environment.ts';
import { pluginDirectories } from '../request/plugin-directories.ts';
import { warn } from '../request/runtime.ts';

/** The usual name of a lock. */
export const LOCK_NAME = 'heddle.lock.json';

interface LockFlags extends CommonFlags {
  readonly file?: string;
  readonly sign?: string;
}

/** What a lock looks like. */
const LOCK_OUTPUT = `interface Output {
  lockVersion: 1;
  network?: string; // that of the first file by name
  files: { path: string; sha256: string; network?: string }[]; // below the directory of networks
  plugins: { type: string; path: string; sha256: string; versions: string[] }[];
  kernel: string[]; // what it must be able to do
  signature?: { algorithm: 'ed25519'; key: string; value: string };
}`;

/** `heddle lock`. */
export const lockCommand = defineCommand<LockFlags, []>({
  name: 'lock',
  group: 'Find what is wrong',
  brief: "pin this node's networks and plugins in a file",
  about: [
    'Writes down what the networking of this node is made of: every configuration file and every plugin that one of them names, ' +
      'by SHA-256; the versions that plugins answer; what the kernel must be able to do; the network that is in force. `heddle ' +
      'verify` tells later what is different. The file is sorted and has no times in it: equal nodes have equal files, fit for Git.',
    '--sign signs it with a key of Ed25519, such as `openssl genpkey -algorithm ed25519` makes.',
    `Ends with ${EXIT.FAILED}, and writes nothing, when a plugin is missing or a file cannot be read.`,
  ],
  examples: [
    { command: 'heddle lock', what: `writes ${LOCK_NAME} in this directory` },
    {
      command: 'heddle lock --file /etc/heddle/lock.json --sign lock.key',
      what: 'writes a signed one for this node',
    },
    { command: 'heddle lock --file -', what: 'prints it' },
  ],
  usage: '[--file file] [--sign key]',
  json: LOCK_OUTPUT,
  parameters: {
    flags: {
      file: {
        kind: 'parsed',
        parse: String,
        brief: `where to write it; - for stdout (default ${LOCK_NAME})`,
        placeholder: 'file',
        optional: true,
      },
      sign: {
        kind: 'parsed',
        parse: String,
        brief: 'sign it with the private key in this file (PEM, Ed25519)',
        placeholder: 'key',
        optional: true,
      },
    },
  },
  async run(cli, flags) {
    const path = resolve(cli.cwd, flags.file ?? LOCK_NAME);
    if (flags.file !== '-') refusePlace(cli, path);
    const taken = await lockOf(cli);
    const lock =
      flags.sign === undefined ? taken.lock : signLock(taken.lock, readText(cli, flags.sign), flags.sign);
    refuseGaps(taken);
    if (lock.files.length === 0) warn(cli, `there is no network in ${configDir(cli)}: the lock pins nothing`);
    if (cli.isRoot) await warnOfKernel(cli, lock);
    const text = formatLock(lock);
    if (flags.file === '-') {
      cli.stdout.write(text);
      return undefined;
    }
    writeLock(path, text);
    emit(
      cli,
      flags,
      () => JSON.parse(text),
      () => `${path}: ${countsOf(lock)}${lock.signature === undefined ? '' : ', signed'}\n`,
    );
    return undefined;
  },
});

/** This node, as a lock has it. */
export async function lockOf(cli: Cli): Promise<Taken> {
  const programs = systemPrograms({ directories: pluginDirectories(cli), env: cli.env });
  return await takeLock({ directory: configDir(cli), files: nodeFiles, programs });
}

/** `2 files, 4 plugins, 3 features of the kernel` */
export function countsOf({ files, plugins, kernel }: Lock): string {
  const count = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`;
  return [
    count(files.length, 'file', 'files'),
    count(plugins.length, 'plugin', 'plugins'),
    count(kernel.length, 'feature of the kernel', 'features of the kernel'),
  ].join(', ');
}

/** @throws {CommandError} when it cannot be read */
export function readText({ cwd }: Pick<Cli, 'cwd'>, file: string): string {
  const path = resolve(cwd, file);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : message;
    throw new CommandError(EXIT.FAILED, `cannot read ${path}: ${why}`, { cause: error });
  }
}

/** @throws {CommandError} for what has to be there and cannot be pinned */
function refuseGaps({ unpinned }: Taken): void {
  if (unpinned.length === 0) return;
  throw new CommandError(
    EXIT.FAILED,
    `lock: ${unpinned.map(({ what, why }) => `${what}: ${why}`).join('; ')}`,
    {
      hint: 'heddle audit --node tells more',
    },
  );
}

async function warnOfKernel(cli: Cli, { kernel }: Lock): Promise<void> {
  try {
    for (const feature of kernel) {
      const problem = await kernelFeatures.problem(feature);
      if (problem !== undefined) warn(cli, `this kernel cannot do "${feature}": ${problem}`);
    }
  } catch (error) {
    // Without namespaces, or without /proc, nothing can be tried; the lock says what is needed all the same.
    warn(cli, `what the kernel can do cannot be tried: ${(error as Error).message}`);
  }
}

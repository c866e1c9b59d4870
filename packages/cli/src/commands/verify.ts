import { resolve } from 'node:path';
import { kernelFeatures, parseLock, verifyLock } from '@heddle/doctor';
import { defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { FINDING_FLAGS, type FindingFlags } from '../findings/flags.ts';
import { printReport, reportOf } from '../findings/print.ts';
import { configDir } from '../request/environment.ts';
import { warn } from '../request/runtime.ts';
import { countsOf, LOCK_NAME, lockOf, readText } from './lock.ts';

interface VerifyFlags extends FindingFlags {
  readonly file?: string;
  readonly verifyKey?: string;
}

/** `heddle verify`. */
export const verifyCommand = defineCommand<VerifyFlags, []>({
  name: 'verify',
  group: 'Find what is wrong',
  brief: 'tell what is different on this node from what was locked',
  about: [
    'Compares this node with the file that `heddle lock` wrote, item by item: configuration files that were changed, added or ' +
      'removed, another network in force, plugins that are other programs, are found elsewhere or answer other versions, and what ' +
      'the kernel cannot do (each feature is tried in a namespace that is thrown away; that needs root).',
    '--verify-key wants the lock to be signed with this key, and unchanged since.',
    `Ends with ${EXIT.FOUND_ERRORS} when there are errors, with ${EXIT.FOUND_WARNINGS} when there are warnings, with 0 when all is as ` +
      'it was; --fail-on moves the border.',
  ],
  examples: [
    { command: 'heddle verify', what: `compares with ${LOCK_NAME} in this directory` },
    {
      command: 'heddle verify --file /etc/heddle/lock.json --verify-key lock.pub',
      what: 'checks who signed it, too',
    },
    { command: 'heddle verify --format github', what: 'annotates a workflow' },
  ],
  usage: '[--file file] [--verify-key key] [flag]...',
  json: `interface Output {
  findings: {
    id: string; // lock/…
    severity: 'error' | 'warning' | 'note';
    place?: { file: string };
    subject?: string;
    what: string;
    consequence: string;
    remedy: string;
    evidence?: string[];
  }[];
  silenced: { finding: object; reason: string }[];
  checked: string;
}`,
  parameters: {
    flags: {
      file: {
        kind: 'parsed',
        parse: String,
        brief: `the lock (default ${LOCK_NAME})`,
        placeholder: 'file',
        optional: true,
      },
      verifyKey: {
        kind: 'parsed',
        parse: String,
        brief: 'the public key that must have signed it (PEM, Ed25519)',
        placeholder: 'key',
        optional: true,
      },
      ...FINDING_FLAGS,
    },
  },
  async run(cli, flags) {
    const lockFile = resolve(cli.cwd, flags.file ?? LOCK_NAME);
    const lock = parseLock(readText(cli, lockFile), lockFile);
    if (!cli.isRoot) warn(cli, 'what the kernel can do is not looked at: that needs root');
    const findings = await verifyLock(lock, await lockOf(cli), {
      ...{ lockFile, directory: configDir(cli) },
      features: cli.isRoot ? kernelFeatures : undefined,
      verifyKey: flags.verifyKey === undefined ? undefined : readText(cli, flags.verifyKey),
      verifyKeyName: flags.verifyKey,
    });
    return printReport(cli, flags, reportOf(cli, flags, findings, `${countsOf(lock)} of ${lockFile}`));
  },
});

import { resolve } from 'node:path';
import { type CommonFlags, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { applySteps } from '../install/apply.ts';
import { findLeftovers, type Leftover } from '../install/leftovers.ts';
import { installLock, readRecord } from '../install/own-files.ts';
import { type Plan, planUninstall } from '../install/plan.ts';
import { namesIn, presentAt } from '../install/present.ts';
import { stepsJson, stepsText } from '../install/report.ts';
import { takeInventory } from '../inventory/collect.ts';
import { emit } from '../output/emit.ts';
import { CommandError } from '../output/report-error.ts';

interface UninstallFlags extends CommonFlags {
  readonly dir?: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly purge?: boolean;
}

/** `heddle uninstall`. */
export const uninstallCommand = defineCommand<UninstallFlags, []>({
  name: 'uninstall',
  group: 'Set up this node',
  brief: 'remove what install put there',
  about: [
    'Removes the network that `install` wrote, then the links, then the program. What somebody has changed since is left ' +
      `alone, said, and makes it end with ${EXIT.IN_THE_WAY}.`,
    `While there are attachments nothing is removed, and it ends with ${EXIT.IN_THE_WAY} as well: without its plugins no runtime can ` +
      'delete them. --force does it all the same.',
    'What all attachments share stays in the kernel, and is listed: the bridge of the first network, the tables of ' +
      'nftables, and that the node passes packets on. --purge removes the first two.',
  ],
  examples: [
    { command: 'heddle uninstall --dry-run', what: 'shows what would be removed' },
    {
      command: 'heddle uninstall',
      what: 'removes the plugins from /opt/cni/bin and the network that install wrote',
    },
  ],
  usage: '[--dir dir] [--force | --purge] [--dry-run]',
  json: `interface Output {
  dryRun: boolean;
  steps: { do: 'remove' | 'keep'; path: string; note: string | null }[];
  inTheWay: string[];
  purged: string[]; // what --purge removed from the kernel
  left: string[]; // what stays there
}`,
  parameters: {
    flags: {
      dir: {
        kind: 'parsed',
        parse: String,
        brief: 'where the plugins are (default /opt/cni/bin)',
        placeholder: 'dir',
        optional: true,
      },
      force: {
        kind: 'boolean',
        brief: 'also while there are attachments',
        optional: true,
        withNegated: false,
      },
      purge: {
        kind: 'boolean',
        brief: 'also remove the bridge heddle0 and the tables of nftables',
        optional: true,
        withNegated: false,
      },
      dryRun: {
        kind: 'boolean',
        brief: 'show what would be done, and do nothing',
        optional: true,
        withNegated: false,
      },
    },
  },
  async run(cli, flags) {
    const directory = resolve(cli.cwd, flags.dir ?? cli.places.pluginDir);
    const names = namesIn(directory);
    const dryRun = flags.dryRun === true;
    using _lock = dryRun || names.length === 0 ? new DisposableStack() : installLock(directory);
    const plan = planUninstall({ directory, names, record: readRecord(directory), present: presentAt });
    const { attachments } = await takeInventory(cli, {});
    if (attachments.length > 0) refuseWhileAttached(attachments.length, plan, flags);
    if (!dryRun) applySteps(plan.steps);
    using host = cli.openHost();
    const [purged, left] = await purge(await findLeftovers(host), flags);
    emit(
      cli,
      flags,
      () => ({ dryRun, steps: stepsJson(plan), inTheWay: plan.inTheWay, purged, left }),
      (styled) =>
        stepsText(plan, { dryRun, styled }) +
        listText(dryRun ? 'would remove from the kernel' : 'removed from the kernel', purged) +
        listText('stays on this node', left),
    );
    for (const path of plan.inTheWay) {
      cli.stderr.write(`heddle: left alone, because it was changed since it was installed: ${path}\n`);
    }
    return plan.inTheWay.length === 0 ? EXIT.OK : EXIT.IN_THE_WAY;
  },
});

/** @throws {CommandError} unless the plugins are to go all the same; the kernel's part then stays in any case */
function refuseWhileAttached(count: number, { steps }: Plan, { force, purge: purges }: UninstallFlags): void {
  if (purges !== true && (force === true || steps.length === 0)) return;
  const what = count === 1 ? '1 attachment is' : `${count} attachments are`;
  const means = purges === true ? '' : '; --force removes the plugins all the same';
  throw new CommandError(EXIT.IN_THE_WAY, `nothing was removed: ${what} left on this node`, {
    hint: `heddle ls lists them, heddle del and heddle gc take them down${means}`,
  });
}

/** Removes what can be removed when that is asked for; gives what was removed, and what is left. */
async function purge(
  leftovers: readonly Leftover[],
  { purge: purges, dryRun }: UninstallFlags,
): Promise<readonly [purged: readonly string[], left: readonly string[]]> {
  const [purged, left]: [string[], string[]] = [[], []];
  for (const { what, remove } of leftovers) {
    if (purges === true && remove !== undefined) {
      if (dryRun !== true) await remove();
      purged.push(what);
    } else left.push(what);
  }
  return [purged, left];
}

function listText(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

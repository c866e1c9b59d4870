import { resolve } from 'node:path';
import { type CommonFlags, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { applySteps } from '../install/apply.ts';
import { installLock, readRecord } from '../install/own-files.ts';
import { planUninstall } from '../install/plan.ts';
import { namesIn, presentAt } from '../install/present.ts';
import { stepsJson, stepsText } from '../install/report.ts';
import { takeInventory } from '../inventory/collect.ts';
import { emit } from '../output/emit.ts';
import { warn } from '../request/runtime.ts';

interface UninstallFlags extends CommonFlags {
  readonly dir?: string;
  readonly dryRun?: boolean;
}

/** `heddle uninstall`. */
export const uninstallCommand = defineCommand<UninstallFlags, []>({
  name: 'uninstall',
  group: 'Set up this node',
  brief: 'remove what install put there',
  about: [
    'Removes the network that `install` wrote, then the links, then the program. What somebody has changed since is left ' +
      `alone, said, and makes it end with ${EXIT.IN_THE_WAY}. Attachments are not touched: delete them first, for without ` +
      'its plugins no runtime can.',
  ],
  examples: [
    { command: 'heddle uninstall --dry-run', what: 'shows what would be removed' },
    {
      command: 'heddle uninstall',
      what: 'removes the plugins from /opt/cni/bin and the network that install wrote',
    },
  ],
  usage: '[--dir dir] [--dry-run]',
  json: `interface Output {
  dryRun: boolean;
  steps: { do: 'remove' | 'keep'; path: string; note: string | null }[];
  inTheWay: string[];
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
    if (plan.steps.length > 0 && attachments.length > 0) {
      warn(cli, `${attachments.length} attachments are left on this node; see heddle ls`);
    }
    if (!dryRun) applySteps(plan.steps);
    emit(
      cli,
      flags,
      () => ({ dryRun, steps: stepsJson(plan), inTheWay: plan.inTheWay }),
      (styled) => stepsText(plan, styled),
    );
    for (const path of plan.inTheWay) {
      cli.stderr.write(`heddle: left alone, because it was changed since it was installed: ${path}\n`);
    }
    return plan.inTheWay.length === 0 ? EXIT.OK : EXIT.IN_THE_WAY;
  },
});

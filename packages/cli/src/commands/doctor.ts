import { resolve } from 'node:path';
import {
  DOCTOR_RULES,
  type Examination,
  examine,
  type Freed,
  freeLeaks,
  LOG_RULES,
  RULES,
  readLog,
} from '@heddle/doctor';
import { Addr } from '@heddle/netaddr';
import { type Cli, defineCommand } from '../command.ts';
import { logLines } from '../doctor/log-lines.ts';
import { nodePorts } from '../doctor/node-ports.ts';
import { freedText, furtherText, walksText } from '../doctor/text.ts';
import { EXIT } from '../exit-codes.ts';
import { FINDING_FLAGS, type FindingFlags } from '../findings/flags.ts';
import { FINDINGS_JSON, formatOf, printReport, reportOf } from '../findings/print.ts';
import { printRules } from '../findings/rule-list.ts';
import { INVENTORY_FLAGS, type InventoryFlags } from '../inventory/collect.ts';
import { CommandError } from '../output/report-error.ts';
import { warn } from '../request/runtime.ts';
import { netnsPath } from '../request/sandbox.ts';
import { chooseAttachments } from '../show/choose.ts';

interface DoctorFlags extends FindingFlags, InventoryFlags {
  readonly network?: string;
  readonly probe?: readonly Addr[];
  readonly fix?: boolean;
  readonly dryRun?: boolean;
}

/** `heddle doctor`. */
export const doctorCommand = defineCommand<DoctorFlags, string[]>({
  name: 'doctor',
  group: 'Find what is wrong',
  brief: 'look for what is wrong with the network of this node, or of one container',
  about: [
    'Looks at this node with evidence: directories, plugins, networks, pools of addresses, attachments, kernel settings, ' +
      'firewalls, what CNIs that are gone have left. Of each network one container is taken, and a few packets are sent ' +
      'from it and followed through the node. Plugins of others are known, too; nothing of Heddle need be installed.',
    'With CONTAINER (a container ID or the beginning of one, a namespace, a pod) packets are followed from that container, ' +
      'hop by hop: namespace, link, gateway, route, filter, translation, beyond. --probe says where to.',
    'Nothing is changed, but for a table of its own in nftables while packets are followed. Probes are echo requests, ARP ' +
      'probes and neighbour solicitations, a few at a time. It needs root.',
    'Mend the first finding, and look again: one fault may hide another. Lines that begin with $ are commands for a shell of ' +
      'root, to be copied as they are; where there are several ways to mend something, they are one.',
    '--fix frees addresses that are held for containers that are gone. It looks twice, ten seconds apart, and checks each ' +
      'once more under the lock before it is freed: the address of a container that lives is never touched. --dry-run only ' +
      'shows which.',
    '`heddle doctor logs FILE` (- for stdin) reads the log of a kubelet, containerd, CRI-O, Podman or kernel and says in ' +
      'plain words what happened and what to do. `heddle doctor rules` lists all that is looked for; with ids it explains them.',
    `Ends with ${EXIT.FOUND_ERRORS} when there are errors, with ${EXIT.FOUND_WARNINGS} when there are warnings, with 0 ` +
      'otherwise; --fail-on moves the border.',
  ],
  examples: [
    { command: 'heddle doctor', what: 'looks at this node' },
    {
      command: 'heddle doctor default/web-7c9f --probe 10.96.0.10',
      what: "follows a pod's packets to an address",
    },
    { command: 'heddle doctor --fix --dry-run', what: 'shows which addresses could be freed' },
    {
      command: 'journalctl -u containerd -u kubelet -b | heddle doctor logs -',
      what: 'explains the failures in a log',
    },
    { command: 'heddle doctor rules firewall/drops', what: 'explains a rule' },
  ],
  usage: '[flag]... [container] | logs <file> | rules [id]...',
  json: `interface Output {
${FINDINGS_JSON}
  walks: {
    attachment: string;
    family: 4 | 6;
    target: string | null;
    steps: { hop: string; ok: boolean; what: string }[];
    findings: object[];
  }[];
  freed: { network: string; containerID: string; addr: string; path: string }[]; // with --fix
}`,
  parameters: {
    flags: {
      network: {
        kind: 'parsed',
        parse: String,
        brief: 'only this network, and attachments to it',
        placeholder: 'name',
        optional: true,
      },
      probe: {
        kind: 'parsed',
        parse: Addr.parse,
        brief: "where to follow packets to (default: the node's own gateway); one of each family",
        placeholder: 'address',
        variadic: true,
        optional: true,
      },
      fix: {
        kind: 'boolean',
        brief: 'free addresses that are proven to be held for nobody',
        optional: true,
        withNegated: false,
      },
      dryRun: {
        kind: 'boolean',
        brief: 'with --fix: only show what would be freed',
        optional: true,
        withNegated: false,
      },
      ...INVENTORY_FLAGS,
      ...FINDING_FLAGS,
    },
    positional: {
      kind: 'array',
      parameter: { placeholder: 'container', parse: String, brief: 'whose packets to follow' },
    },
  },
  async run(cli, flags, ...words) {
    const [first, ...rest] = words;
    if (first === 'rules') {
      printRules(cli, flags, { ids: rest, all: [...DOCTOR_RULES, ...LOG_RULES], command: 'doctor' });
      return undefined;
    }
    if (first === 'logs') return explainLog(cli, flags, rest);
    if (rest.length > 0)
      throw new CommandError(EXIT.USAGE, `doctor: one container at a time, not ${words.join(' and ')}`);
    if (!cli.isRoot) warn(cli, 'without root most of a node cannot be looked at');
    using host = cli.openHost();
    const ports = nodePorts(cli, flags.cacheDir);
    const out = formatOf(flags) === 'text' ? cli.stdout : cli.stderr;
    const { network, dryRun = false } = flags;
    let freed: Freed | undefined;
    if (flags.fix === true) {
      freed = await freeLeaks(ports, host, { network, dryRun });
      out.write(`${freedText(freed, dryRun)}\n`);
    }
    const looked = await examine(ports, host, {
      ...{ network, targets: flags.probe },
      ...(first !== undefined && {
        chosen: (all) =>
          chooseAttachments(all, {
            container: first,
            netns: netnsPath(cli, first),
            network,
            command: 'doctor',
          }),
      }),
    });
    const { networks, attachments } = looked.view;
    if (network !== undefined && networks.networks.length + attachments.length === 0) {
      throw new CommandError(
        EXIT.FAILED,
        `doctor: there is no network "${network}" in ${ports.places.configDir}`,
      );
    }
    if (first !== undefined) {
      out.write(walksText(looked.walks, cli.stdout.isStyled));
      if (flags.probe === undefined) out.write(furtherText(first));
    }
    return print(cli, flags, { looked, freed });
  },
});

function explainLog(cli: Cli, flags: DoctorFlags, files: readonly string[]): number {
  if (files.length === 0) throw new CommandError(EXIT.USAGE, 'doctor logs: which file? - reads stdin');
  let lines = 0;
  const counted = function* (path: string) {
    for (const line of logLines(path)) {
      lines++;
      yield line;
    }
  };
  const findings = files.flatMap((file) => {
    const path = file === '-' ? file : resolve(cli.cwd, file);
    return readLog(counted(path), { file: path, rules: RULES });
  });
  const report = reportOf(cli, flags, findings, '');
  return printReport(cli, flags, { ...report, checked: `${lines} line${lines === 1 ? '' : 's'}` });
}

interface Outcome {
  readonly looked: Examination;
  readonly freed: Freed | undefined;
}

function print(cli: Cli, flags: DoctorFlags, { looked, freed }: Outcome): number {
  const { findings, walks, view } = looked;
  const many = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;
  const checked = `${many(view.networks.networks.length, 'network')}, ${many(view.attachments.length, 'attachment')}`;
  const report = reportOf(cli, flags, findings, checked);
  const more = { walks, freed: freed?.freed ?? [] };
  return printReport(cli, flags, report, more);
}

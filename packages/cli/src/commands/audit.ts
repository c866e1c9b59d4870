import { resolve } from 'node:path';
import { Runtime, systemExec } from '@heddle/cni/runtime';
import {
  AUDIT_RULES,
  type AuditOptions,
  type AuditRequest,
  audit,
  type Finding,
  nodeFiles,
  planFixes,
  typesOf,
  unifiedDiff,
  writeChange,
} from '@heddle/doctor';
import { AUDIT_FLAGS, type AuditFlags } from '../audit/flags.ts';
import { readHostFacts } from '../audit/host-facts.ts';
import { readInstalled } from '../audit/installed-plugins.ts';
import { type Cli, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { FINDINGS_JSON, formatOf, printReport, reportOf } from '../findings/print.ts';
import { printRules } from '../findings/rule-list.ts';
import { CommandError } from '../output/report-error.ts';
import { configDir } from '../request/environment.ts';
import { pluginDirectories, pluginReaders } from '../request/plugin-directories.ts';

/** `heddle audit`. */
export const auditCommand = defineCommand<AuditFlags, string[]>({
  name: 'audit',
  group: 'Find what is wrong',
  brief: 'look for faults in network configurations, before a container does',
  about: [
    'Looks at every file of each DIR, or at each FILE: is it JSON, is it what the specification asks for, does each plugin ' +
      'get what it reads, do subnets overlap, which file counts and which do not. Plugins of others are known, too. Each ' +
      'finding says where, what will happen, and how to mend it; the likeliest cause comes first.',
    'Without DIR and FILE it looks at the directory of networks of this node, and compares it with what is here: plugins ' +
      'that are installed and the versions they speak, links, routes, addresses, forwarding. With --node it does that for ' +
      'any DIR. Nothing is changed but with --fix, and nothing is started but VERSION of plugins.',
    '--fix mends what is safe to mend: commas too many, byte order marks, UTF-16, line endings, versions written as 1.0 or ' +
      'v1.0.0, subnets with host bits, lists in files for one plugin and the reverse. It prints the diff, then writes each ' +
      'file whole; formatting is kept.',
    '`heddle audit rules` lists what is looked for; with ids it explains them. A file of silenced ids, each with a reason, ' +
      'keeps findings from being told: docs/audit.md shows one.',
    `Ends with ${EXIT.FOUND_ERRORS} when there are errors, with ${EXIT.FOUND_WARNINGS} when there are warnings, with 0 ` +
      'otherwise; --fail-on moves the border.',
  ],
  examples: [
    { command: 'heddle audit', what: 'looks at this node' },
    { command: 'heddle audit --fix --dry-run', what: 'shows what could be mended' },
    {
      command: 'heddle audit --max-pods 110 --service-cidr 10.96.0.0/12',
      what: 'knows what the files do not say',
    },
    {
      command: 'heddle audit deploy/net.d --format github --fail-on error',
      what: 'checks a repository in its workflow',
    },
    { command: 'heddle audit rules selection/which-file', what: 'explains a rule' },
  ],
  usage: '[dir | file]... [flag]... | rules [id]...',
  json: `interface Output {
${FINDINGS_JSON}
}
// rules
interface Output {
  rules: { id: string; title: string; severity: 'error' | 'warning' | 'note'; fixable: boolean; explains: string }[];
}`,
  parameters: {
    flags: AUDIT_FLAGS,
    positional: {
      kind: 'array',
      parameter: { placeholder: 'dir | file', parse: String, brief: 'what to look at' },
    },
  },
  async run(cli, flags, ...paths) {
    const [first, ...ids] = paths;
    if (first === 'rules') {
      printRules(cli, flags, { ids, all: AUDIT_RULES, command: 'audit' });
      return undefined;
    }
    // An unset variable must not become this directory, least of all with --fix.
    if (paths.includes('')) throw new CommandError(EXIT.USAGE, 'audit: a path is empty');
    const request = await requestOf(cli, flags, paths);
    const { findings, checked } = lookAt(flags.fix === true ? mend(cli, flags, request) : request);
    return printReport(cli, flags, reportOf(cli, flags, findings, checked));
  },
});

async function requestOf(cli: Cli, flags: AuditFlags, paths: readonly string[]): Promise<AuditRequest> {
  const isNode = flags.node ?? paths.length === 0;
  const named = paths.length === 0 ? [configDir(cli)] : paths.map((path) => resolve(cli.cwd, path));
  const options: AuditOptions = {
    ...(flags.maxPods !== undefined && { maxPods: flags.maxPods }),
    ...(flags.serviceCidr !== undefined && { serviceCidrs: flags.serviceCidr }),
    ...(flags.nodeAddress !== undefined && { nodeAddresses: flags.nodeAddress }),
    ...(flags.against !== undefined && { against: flags.against }),
  };
  const request: AuditRequest = { paths: named, files: nodeFiles, options };
  if (!isNode) return request;
  using host = cli.openHost();
  const directories = pluginDirectories(cli);
  // What is in the way of a plugin is a finding, not to be warned of as well.
  const runtime = new Runtime({ path: directories, env: cli.env, exec: systemExec() });
  const installed = await readInstalled(
    runtime,
    { directories, readers: pluginReaders(cli) },
    typesOf(request),
  );
  return { ...request, host: await readHostFacts(host), installed };
}

/** @throws {CommandError} for a path that leads nowhere: a typing error must not look like a clean audit */
function lookAt(request: AuditRequest): { readonly findings: readonly Finding[]; readonly checked: string } {
  const { findings, fileCount, missing } = audit(request);
  const [absent] = missing;
  if (absent !== undefined) throw new CommandError(EXIT.FAILED, `there is no ${absent}`);
  const files = `${fileCount} file${fileCount === 1 ? '' : 's'}`;
  const [only, ...others] = request.paths;
  const where = others.length > 0 ? `${request.paths.length} places` : `${only}`;
  return { findings, checked: `${files} in ${where}` };
}

/** Each round may uncover more: a file that was refused as a whole is looked into only when it can be read. */
const ROUNDS = 4;

/** Gives the request for what is there afterwards: a file may have another name. */
function mend(cli: Cli, flags: AuditFlags, request: AuditRequest): AuditRequest {
  const out = formatOf(flags) === 'text' ? cli.stdout : cli.stderr;
  let now = request;
  for (let round = 0; round < ROUNDS; round++) {
    const { findings, checked } = lookAt(now);
    const changes = planFixes(reportOf(cli, flags, findings, checked).findings, now.files);
    for (const change of changes) {
      out.write(unifiedDiff(change));
      if (flags.dryRun !== true) writeChange(change);
    }
    if (changes.length > 0) out.write('\n');
    if (changes.length === 0 || flags.dryRun === true) break;
    const renamed = new Map(changes.map(({ path, renameTo }) => [path, renameTo ?? path]));
    now = { ...now, paths: now.paths.map((path) => renamed.get(path) ?? path) };
  }
  return now;
}

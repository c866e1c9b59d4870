import { parseCniArgs } from '@heddle/cni';
import {
  type Explanation,
  explain,
  inOrder,
  nodeFiles,
  type Plan,
  planAdd,
  RULES,
  renderText,
  systemPrograms,
} from '@heddle/doctor';
import { type Cli, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { certainFailures } from '../explain/certain-failures.ts';
import { EXPLAIN_FLAGS, type ExplainFlags } from '../explain/flags.ts';
import { EXPLANATION_OUTPUT, explanationJson } from '../explain/json.ts';
import { planText } from '../explain/plan-text.ts';
import { explanationText, summaryText } from '../explain/text.ts';
import { emit } from '../output/emit.ts';
import { CommandError } from '../output/report-error.ts';
import { capabilityArgsOf, cniArgsOf, configDir } from '../request/environment.ts';
import { directoriesOf } from '../request/plugin-directories.ts';
import { containerIdOf, netnsPath } from '../request/sandbox.ts';

/** `heddle explain`. */
export const explainCommand = defineCommand<ExplainFlags, [string | undefined]>({
  name: 'explain',
  group: 'Find what is wrong',
  brief: 'show what would happen when a container is attached',
  about: [
    'Shows which file a runtime takes and why not the others, the version in force, and each plugin in its order: the program ' +
      'that would run, the versions that it speaks, who gives addresses, and the exact environment and input that it would get. ' +
      'Nothing is changed, and nothing is started but VERSION of plugins.',
    'Without NETWORK it is the network that the runtime takes by itself. --against takes the point of view of another runtime: ' +
      'what it would choose, which capabilities it passes and how it spells them. Texts in angle brackets stand for what only a ' +
      'running container has.',
    '--plan runs the plugins for real, in two namespaces that are thrown away: one is made like this node (its links, ' +
      'addresses, routes, rules and parameters; one that leads nowhere in place of a device), one is the container. It prints what ADD ' +
      'changes on both sides. Files that plugins write go to memory, and daemons cannot be reached: this node is not touched.',
    `Ends with ${EXIT.FAILED} when ADD would fail for sure: no file to choose, or a plugin that is missing or does not speak the version.`,
  ],
  examples: [
    { command: 'heddle explain', what: 'explains the network that containers get' },
    {
      command: 'heddle explain --against containerd',
      what: 'shows which file containerd takes, and what it passes',
    },
    { command: 'heddle explain podnet --plan', what: 'shows what it would change here' },
    {
      command: `heddle explain podnet --cap '{"portMappings":[{"hostPort":8080,"containerPort":80,"protocol":"tcp"}]}'`,
      what: 'shows who would get a published port',
    },
  ],
  usage: '[flag]... [network]',
  json: EXPLANATION_OUTPUT,
  parameters: {
    flags: EXPLAIN_FLAGS,
    aliases: { i: 'ifname' },
    positional: {
      kind: 'tuple',
      parameters: [{ placeholder: 'network', parse: String, brief: 'name of the network', optional: true }],
    },
  },
  async run(cli, flags, network) {
    const explanation = await explainNode(cli, flags, network);
    const plan = flags.plan === true ? await planOf(cli, explanation, flags) : undefined;
    emit(
      cli,
      flags,
      () => explanationJson(explanation, plan),
      () => textOf(cli, explanation, plan),
    );
    const isSure = explanation.network === undefined || certainFailures(explanation.network).length > 0;
    return isSure || plan?.failure !== undefined ? EXIT.FAILED : EXIT.OK;
  },
});

/** @throws {CommandError} without root, or without a network */
async function planOf(cli: Cli, explanation: Explanation, flags: ExplainFlags): Promise<Plan> {
  const { network, cacheDir } = explanation;
  if (network === undefined) {
    throw new CommandError(
      EXIT.FAILED,
      `explain --plan: ${explanation.runtime.title} finds no network to try`,
    );
  }
  if (!cli.isRoot) throw new CommandError(EXIT.FAILED, 'explain --plan: this needs root, for namespaces');
  const real = (text = '') => text.replaceAll(/<([^>]*)>/g, (_, words: string) => words.replaceAll(' ', '-'));
  const { CNI_CONTAINERID, CNI_NETNS, CNI_IFNAME, CNI_ARGS } = network.env;
  using host = cli.openHost();
  return await planAdd({
    ...{
      host,
      cacheDir,
      list: network.list,
      path: directoriesOf(cli, flags.against ?? 'heddle'),
      env: cli.env,
    },
    attachment: {
      containerID: real(CNI_CONTAINERID),
      netns: planNetns(real(CNI_NETNS)),
      ifName: real(CNI_IFNAME),
      args: parseCniArgs(real(CNI_ARGS)),
      capabilityArgs: explanation.runtime.spell(
        Object.fromEntries(
          Object.entries(flags.cap ?? capabilityArgsOf(cli)).filter(
            ([name]) => !network.withheld.includes(name),
          ),
        ),
      ),
    },
  });
}

/** The namespace of a process has a path that nobody can make. */
function planNetns(path: string): string {
  return /^(\/var)?\/run\//.test(path) ? path : '/run/netns/heddle-plan';
}

async function explainNode(cli: Cli, flags: ExplainFlags, network: string | undefined): Promise<Explanation> {
  const { env, places } = cli;
  const against = flags.against ?? 'heddle';
  const netns = flags.netns === undefined ? undefined : netnsPath(cli, flags.netns);
  const args = flags.args ?? cniArgsOf(cli);
  return await explain({
    ...{ directory: configDir(cli), against, network, files: nodeFiles },
    programs: systemPrograms({ directories: directoriesOf(cli, against), env }),
    cacheDir: flags.cacheDir ?? (against === 'heddle' ? places.cacheDir : undefined),
    pod: {
      containerID: flags.containerId ?? (netns === undefined ? undefined : containerIdOf(netns)),
      netns,
      ifName: flags.ifname ?? (env['CNI_IFNAME'] || undefined),
      args: args.length === 0 ? undefined : args,
      capabilityArgs: flags.cap ?? capabilityArgsOf(cli),
    },
  });
}

function textOf({ stdout, env }: Cli, explanation: Explanation, plan: Plan | undefined): string {
  const width = stdout.columns ?? 110;
  const inherited = Object.keys(env).filter((name) => !name.startsWith('CNI_')).length;
  const style = { styled: stdout.isStyled, width, inherited };
  if (plan !== undefined) return `${summaryText(explanation, style)}\n${planText(plan, style)}`;
  const text = explanationText(explanation, style);
  if (explanation.findings.length === 0) return text;
  const findings = inOrder(explanation.findings, RULES);
  const report = { findings, silenced: [], checked: `audit of ${explanation.directory}` };
  return `${text}\n${renderText(report, { styled: stdout.isStyled, width })}`;
}

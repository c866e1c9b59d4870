import {
  type Explanation,
  explain,
  inOrder,
  nodeFiles,
  RULES,
  renderText,
  systemPrograms,
} from '@heddle/doctor';
import { type Cli, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { EXPLAIN_FLAGS, type ExplainFlags } from '../explain/flags.ts';
import { EXPLANATION_OUTPUT, explanationJson } from '../explain/json.ts';
import { explanationText } from '../explain/text.ts';
import { emit } from '../output/emit.ts';
import { capabilityArgsOf, cniArgsOf, configDir, pluginPath } from '../request/environment.ts';
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
    `Ends with ${EXIT.FAILED} when ADD would fail for sure: no file to choose, or a plugin that is missing or does not speak the version.`,
  ],
  examples: [
    { command: 'heddle explain', what: 'explains the network that containers get' },
    {
      command: 'heddle explain --against containerd',
      what: 'shows which file containerd takes, and what it passes',
    },
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
    emit(
      cli,
      flags,
      () => explanationJson(explanation),
      () => textOf(cli, explanation),
    );
    return canSucceed(explanation) ? EXIT.OK : EXIT.FAILED;
  },
});

async function explainNode(cli: Cli, flags: ExplainFlags, network: string | undefined): Promise<Explanation> {
  const { env, places } = cli;
  const against = flags.against ?? 'heddle';
  const netns = flags.netns === undefined ? undefined : netnsPath(cli, flags.netns);
  const args = flags.args ?? cniArgsOf(cli);
  return await explain({
    ...{ directory: configDir(cli), against, network, files: nodeFiles },
    programs: systemPrograms({ directories: pluginPath(cli), env }),
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

function textOf({ stdout, env }: Cli, explanation: Explanation): string {
  const width = stdout.columns ?? 110;
  const inherited = Object.keys(env).filter((name) => !name.startsWith('CNI_')).length;
  const text = explanationText(explanation, { styled: stdout.isStyled, width, inherited });
  if (explanation.findings.length === 0) return text;
  const findings = inOrder(explanation.findings, RULES);
  const report = { findings, silenced: [], checked: `audit of ${explanation.directory}` };
  return `${text}\n${renderText(report, { styled: stdout.isStyled, width })}`;
}

/** Whether anything is known that makes ADD fail. */
function canSucceed({ network }: Explanation): boolean {
  return (
    network?.plugins.every(
      ({ program, delegates, speaksVersion }) =>
        program.path !== undefined &&
        speaksVersion !== false &&
        delegates.every((delegate) => delegate.program.path !== undefined),
    ) ?? false
  );
}

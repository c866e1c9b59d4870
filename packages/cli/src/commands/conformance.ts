import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@heddle/cni';
import type { Conformance, Kind, Profile, Suite } from '@heddle/conformance';
import { type CommonFlags, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';

interface ConformanceFlags extends CommonFlags {
  readonly config?: string;
  readonly kind?: Kind;
  readonly suite?: readonly string[];
  readonly check?: readonly string[];
  readonly profile?: string;
  readonly daemon?: string;
  readonly format?: 'table' | 'json' | 'junit' | 'markdown';
  readonly list?: boolean;
}

/** `heddle conformance`. */
export const conformanceCommand = defineCommand<ConformanceFlags, [string | undefined]>({
  name: 'conformance',
  group: 'Learn',
  brief: 'check a CNI plugin against the specification and the field',
  about: [
    'Runs PLUGIN, the file of any CNI plugin, some hundred times in network and mount namespaces of its own, and says what ' +
      'it does otherwise than the specification and common sense want; docs/conformance.md lists the checks. Nothing of this ' +
      'machine is changed. Needs root.',
    'Plugins of the reference have configurations of the kit; others need --config. A plugin that delegates its addresses ' +
      'to "conformance-ipam", which the kit brings, is also checked for how it delegates.',
    'Ends with 1 when a check failed.',
  ],
  examples: [
    { command: 'heddle conformance /opt/cni/bin/bridge', what: 'all checks' },
    {
      command: 'heddle conformance ./my-plugin --config my-plugin.json --profile profile.json --format junit',
      what: 'in the continuous integration of a plugin, which claims not all of it yet',
    },
    {
      command: 'heddle conformance /opt/cni/bin/bridge --suite gc --suite delegation',
      what: 'two suites only',
    },
  ],
  usage: '[--config file] [--suite name]... [--format format] <plugin>',
  json: `// also with --format json
interface Output {
  program: string;
  type: string;
  kind: 'interface' | 'chained' | 'ipam';
  versions: string[];
  summary: string;
  passed: number;
  failed: number;
  skipped: number;
  unclaimed: number;
  milliseconds: number;
  checks: {
    id: string;
    suite: string;
    title: string;
    status: 'passed' | 'failed' | 'skipped' | 'unclaimed';
    reason: string | null;
    milliseconds: number;
    failure: {
      expected: string;
      got: string;
      why: string;
      cites: string;
      reproduce: string;
      call: { program: string; env: { [name: string]: string }; stdin: string; exitCode: number | null;
        signal: string | null; stdout: string; stderr: string; timedOut: boolean } | null;
    } | null;
  }[];
}`,
  parameters: {
    flags: {
      config: {
        kind: 'parsed',
        parse: String,
        brief: "a file with the plugin's object of a network list",
        placeholder: 'file',
        optional: true,
      },
      kind: {
        kind: 'enum',
        values: ['interface', 'chained', 'ipam'],
        brief: 'what the plugin is (default: found out by trying)',
        optional: true,
      },
      suite: {
        kind: 'parsed',
        parse: String,
        brief: 'only this suite; may be given several times',
        placeholder: 'name',
        variadic: true,
        optional: true,
      },
      check: {
        kind: 'parsed',
        parse: String,
        brief: 'only this check; may be given several times',
        placeholder: 'id',
        variadic: true,
        optional: true,
      },
      profile: {
        kind: 'parsed',
        parse: String,
        brief: 'a file that says what the plugin does not claim, and why',
        placeholder: 'file',
        optional: true,
      },
      daemon: {
        kind: 'parsed',
        parse: String,
        brief: 'a shell command that runs on the node meanwhile, such as a daemon that the plugin talks to',
        placeholder: 'command',
        optional: true,
      },
      format: {
        kind: 'enum',
        values: ['table', 'json', 'junit', 'markdown'],
        brief: 'how to print: table, json, junit, markdown (default: table)',
        optional: true,
      },
      list: { kind: 'boolean', brief: 'list the checks, and run none', optional: true, withNegated: false },
    },
    positional: {
      kind: 'tuple',
      parameters: [{ placeholder: 'plugin', parse: String, brief: 'the file of the plugin', optional: true }],
    },
  },
  async run(cli, flags, plugin) {
    // A kit that only authors of plugins use: the other commands do without it.
    const kit = await import('@heddle/conformance');
    if (flags.list === true) {
      for (const { id, title } of kit.CHECKS) cli.stdout.write(`${id}  ${title}\n`);
      return undefined;
    }
    if (plugin === undefined)
      throw new CommandError(EXIT.USAGE, 'which plugin?', { hint: 'give the path of its file' });
    const at = (path: string) => resolve(cli.cwd, path);
    const program = at(plugin);
    const format = flags.format ?? (flags.output === 'json' ? 'json' : 'table');
    const styled = cli.stdout.isStyled;
    const suites = flags.suite?.map((name) => suite(name, kit.SUITES));
    const run = await kit.checkPlugin({
      program,
      config: flags.config === undefined ? undefined : configOf(at(flags.config)),
      kind: flags.kind,
      suites,
      only: flags.check,
      profile: flags.profile === undefined ? undefined : profileOf(at(flags.profile), kit),
      daemon: flags.daemon,
      env: cli.env,
      onOutcome: (outcome) => {
        if (format === 'table') cli.stderr.write(kit.outcomeLine(outcome, cli.stderr.isStyled));
      },
    });
    const invocation = { program: plugin, configFile: flags.config, kind: flags.kind, daemon: flags.daemon };
    const reports = {
      table: () => kit.tableReport(run, invocation, styled),
      json: () => `${JSON.stringify(kit.jsonReport(run, invocation), null, 2)}\n`,
      junit: () => kit.junitReport(run, invocation),
      markdown: () => kit.markdownReport(run, invocation),
    };
    cli.stdout.write(reports[format]());
    return hasFailed(run) ? EXIT.FAILED : undefined;
  },
});

function hasFailed({ outcomes }: Conformance): boolean {
  return outcomes.some(({ status }) => status === 'failed');
}

function suite(name: string, known: readonly Suite[]): Suite {
  const found = known.find((each) => each === name);
  if (found !== undefined) return found;
  throw new CommandError(EXIT.USAGE, `there is no suite "${name}"`, {
    hint: `there are ${known.join(', ')}`,
  });
}

function configOf(file: string): JsonObject {
  const config = parseJson(readFileSync(file, 'utf8'), { what: file });
  const isList = isJsonObject(config) && Array.isArray(config['plugins']);
  const object = isList ? (config['plugins'] as readonly JsonValue[])[0] : config;
  if (isJsonObject(object)) return object;
  throw new CommandError(EXIT.USAGE, `${file}: the plugin's object of a network list is expected`);
}

function profileOf(file: string, kit: typeof import('@heddle/conformance')): Profile {
  return kit.parseProfile(readFileSync(file, 'utf8'), file, [
    ...kit.SUITES,
    ...kit.CHECKS.map(({ id }) => id),
  ]);
}

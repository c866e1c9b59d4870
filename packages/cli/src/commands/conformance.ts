import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type JsonObject, parseJson } from '@heddle/cni';
import type { Kind, Outcome, Profile, RunReport } from '@heddle/conformance';
import { type CommonFlags, defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';
import { chosenSuites, pluginObject } from './conformance-choice.ts';

interface ConformanceFlags extends CommonFlags {
  readonly runtime?: string;
  readonly config?: string;
  readonly kind?: Kind;
  readonly suite?: readonly string[];
  readonly check?: readonly string[];
  readonly profile?: string;
  readonly daemon?: string;
  readonly ready?: string;
  readonly crash?: number;
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
    'With --runtime it is a runtime that is checked, by plugins that note how they are called: one that the kit knows by name, ' +
      'with a profile of what it cannot be asked for, or any other by a line for the shell in which {verb} stands for add, del, check, gc or status, {network} for the network, {netns} for the path of the ' +
      'namespace and {ifname} for the interface; it gets the variables of cnitool.',
    `Ends with ${EXIT.FOUND_ERRORS} when a check failed, with ${EXIT.FAILED} when the checks could not be run, or not to their end.`,
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
    {
      command: 'heddle conformance --runtime podman',
      what: 'checks a runtime',
    },
    {
      command: "heddle conformance --runtime './my-runtime {verb} {network} {netns}'",
      what: 'checks another one',
    },
  ],
  usage: '[--config file] [--suite name]... <plugin> | --runtime runtime',
  json: `// also with --format json
interface Output {
  program: string;
  type: string | null; // null for a runtime
  kind: 'interface' | 'chained' | 'ipam' | null;
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
    note: string | null; // how it was done
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
      runtime: {
        kind: 'parsed',
        parse: String,
        brief: 'heddle, cnitool, podman, containerd, or the command by which another runtime is called',
        placeholder: 'runtime',
        optional: true,
      },
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
      ready: {
        kind: 'parsed',
        parse: String,
        brief: 'a path, such as its socket, that is there when the daemon is ready',
        placeholder: 'path',
        optional: true,
      },
      crash: {
        kind: 'parsed',
        parse: crashPoints,
        brief: 'at how many of the calls of each command to kill it, or at all (default: 6 or 8)',
        placeholder: 'n|all',
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
      for (const { id, title } of [...kit.CHECKS, ...kit.RUNTIME_CHECKS])
        cli.stdout.write(`${id}  ${title}\n`);
      return undefined;
    }
    const { runtime, check, suite, config, kind, daemon, ready, crash } = flags;
    const suites = chosenSuites(
      { runtime, plugin, suite, check, ofPlugins: { config, kind, daemon, ready, crash } },
      { suites: kit.SUITES, checks: kit.CHECKS.map(idOf), runtimeChecks: kit.RUNTIME_CHECKS.map(idOf) },
    );
    const at = (path: string) => resolve(cli.cwd, path);
    const format = flags.format ?? (flags.output === 'json' ? 'json' : 'table');
    const interruption = new AbortController();
    using _signals = cli.signals.listen(['SIGINT', 'SIGTERM'], () =>
      interruption.abort(new CommandError(EXIT.FAILED, 'interrupted: not all checks were run')),
    );
    const common = {
      only: flags.check,
      profile: flags.profile === undefined ? undefined : profileOf(at(flags.profile), kit),
      env: cli.env,
      signal: interruption.signal,
      onOutcome: (outcome: Outcome) => {
        if (format === 'table') cli.stderr.write(kit.outcomeLine(outcome, cli.stderr.isStyled));
      },
    };
    const run = await (flags.runtime === undefined
      ? kit.checkPlugin({
          ...common,
          program: at(plugin ?? ''),
          config: config === undefined ? undefined : configOf(at(config), basename(plugin ?? '')),
          kind: flags.kind,
          suites,
          daemon: flags.daemon,
          ready: flags.ready,
          crashPoints: flags.crash,
        })
      : kit.checkRuntime({ ...common, ...runtimeOf(flags.runtime, common.profile, kit) }));
    const invocation = {
      program: plugin,
      ...{ runtime: flags.runtime, configFile: flags.config, kind: flags.kind },
      ...{ daemon: flags.daemon, ready: flags.ready, crashPoints: flags.crash },
    };
    const reports = {
      table: () => kit.tableReport(run, invocation, cli.stdout.isStyled),
      json: () => `${JSON.stringify(kit.jsonReport(run, invocation), null, 2)}\n`,
      junit: () => kit.junitReport(run, invocation),
      markdown: () => kit.markdownReport(run, invocation),
    };
    cli.stdout.write(reports[format]());
    return hasFailed(run) ? EXIT.FOUND_ERRORS : undefined;
  },
});

/** A runtime that the kit knows by name, or a command. What a known one does not claim is known too. */
function runtimeOf(runtime: string, profile: Profile | undefined, kit: typeof import('@heddle/conformance')) {
  const known = kit.knownRuntime(
    runtime,
    kit.RUNTIME_CHECKS.map(({ id }) => id),
  );
  if (known === undefined) return { template: runtime };
  return { name: runtime, template: known.template, cleans: known.cleans, profile: profile ?? known.profile };
}

function crashPoints(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY;
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new SyntaxError(`"${text}" is neither a number from 1 nor all`);
}

function hasFailed({ outcomes }: RunReport): boolean {
  return outcomes.some(({ status }) => status === 'failed');
}

function configOf(file: string, type: string): JsonObject {
  return pluginObject(parseJson(readFileSync(file, 'utf8'), { file }), type, file);
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}

function profileOf(file: string, kit: typeof import('@heddle/conformance')): Profile {
  return kit.parseProfile(readFileSync(file, 'utf8'), file, [
    ...kit.SUITES,
    ...[...kit.CHECKS, ...kit.RUNTIME_CHECKS].map(idOf),
  ]);
}

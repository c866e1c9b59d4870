import { spec } from '../check.ts';
import { must } from '../failure.ts';
import { names } from './derivation.ts';
import type { RuntimeCheck } from './runtime-check.ts';
import { said, TYPES } from './runtime-lab.ts';

const ALL = TYPES.join(' ');
const COLLECTING = 'Section 3, Garbage-collecting a network';

/** GC and STATUS. */
export const UPKEEP_CHECKS: readonly RuntimeCheck[] = [
  {
    id: 'runtime/gc',
    title: 'GC runs every plugin, with a list of valid attachments and without variables of a container',
    cites: spec(COLLECTING, 'there are no Attachment Parameters'),
    why: 'What is not listed is freed.',
    async run(lab) {
      lab.network();
      const plugins = (await lab.succeed('gc')).filter(({ command }) => command === 'GC');
      must(names(plugins) === ALL, ALL, names(plugins) || 'none');
      for (const { type, env, config } of plugins) {
        const named = ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME'].filter(
          (name) => (env[name] ?? '') !== '',
        );
        must(named.length === 0, `no variables of a container for ${type}`, named.join(', '));
        must(!('prevResult' in config), `no previous result for ${type}`, JSON.stringify(config));
        must((env['CNI_PATH'] ?? '') !== '', `CNI_PATH for ${type}`, 'none');
      }
    },
  },
  {
    id: 'runtime/gc-list',
    title: 'GC hands plugins the key cni.dev/valid-attachments',
    cites: spec(
      'Section 3, Deriving request configuration from plugin configuration',
      '`cni.dev/valid-attachments`: as specified in section 2',
    ),
    why: 'A plugin without the list must free nothing.',
    async run(lab) {
      lab.network();
      const plugins = (await lab.succeed('gc')).filter(({ command }) => command === 'GC');
      const without = plugins.filter(({ config }) => !Array.isArray(config['cni.dev/valid-attachments']));
      must(
        without.length === 0 && plugins.length > 0,
        'a list for each plugin',
        without[0]?.stdin ?? 'no plugin was run',
      );
    },
  },
  {
    id: 'runtime/gc-goes-on',
    title: 'GC goes on past a plugin that fails, and tells of all failures',
    cites: spec(
      COLLECTING,
      'If the plugin returns an error, **continue** with execution, returning all errors to the caller',
    ),
    why: 'One broken plugin must not keep the garbage of all others.',
    async run(lab) {
      lab.network();
      using _first = lab.recorders.misbehave(
        'kit-first',
        'GC',
        `echo '{"code":122,"msg":"first-trouble"}'; exit 1`,
      );
      using _third = lab.recorders.misbehave(
        'kit-third',
        'GC',
        `echo '{"code":122,"msg":"third-trouble"}'; exit 1`,
      );
      const { call, plugins } = await lab.fail('gc');
      const ran = names(plugins.filter(({ command }) => command === 'GC'));
      must(ran === ALL, ALL, ran, call);
      for (const word of ['first-trouble', 'third-trouble'])
        must(said(call).includes(word), word, said(call), call);
    },
  },
  {
    id: 'runtime/disable-gc',
    title: 'with disableGC no plugin is asked to collect',
    cites: spec(
      'Section 1, Configuration format',
      'runtimes must not call `GC` for this network configuration list',
    ),
    why: 'Another runtime has attachments to the same network.',
    async run(lab) {
      lab.network({ more: { disableGC: true } });
      const plugins = await lab.succeed('gc');
      must(plugins.length === 0, 'no call of a plugin', names(plugins));
    },
  },
  {
    id: 'runtime/status',
    title: 'STATUS asks the plugins, and a failure with its words is told',
    cites: spec(
      'Section 2, STATUS',
      '`STATUS` is a way for a runtime to determine the readiness of a network plugin',
    ),
    why: 'The node must not be called ready before.',
    async run(lab) {
      lab.network();
      const plugins = await lab.succeed('status');
      must(names(plugins) === ALL, ALL, names(plugins) || 'none');
      using _ = lab.recorders.misbehave(
        'kit-second',
        'STATUS',
        `echo '{"code":50,"msg":"not-ready-yet"}'; exit 1`,
      );
      const { call } = await lab.fail('status');
      must(said(call).includes('not-ready-yet'), "the plugin's words", said(call), call);
    },
  },
  {
    id: 'runtime/verbs-by-version',
    title: 'plugins of a network before 1.1.0 get neither GC nor STATUS, before 0.4.0 no CHECK',
    cites: 'beyond the spec',
    why: 'They do not know these, and some take an unknown command for ADD.',
    async run(lab) {
      lab.network({ name: 'kit-old', cniVersion: '1.0.0' });
      for (const verb of ['gc', 'status'] as const) {
        const { plugins } = await lab.run(verb, { network: 'kit-old' });
        const strange = plugins.filter(({ command }) => command === 'GC' || command === 'STATUS');
        must(strange.length === 0, `no ${verb.toUpperCase()} for cniVersion 1.0.0`, names(strange));
      }
      lab.network({ name: 'kit-older', cniVersion: '0.3.1' });
      await lab.succeed('add', { network: 'kit-older' });
      const { plugins } = await lab.run('check', { network: 'kit-older' });
      must(plugins.length === 0, 'no CHECK for cniVersion 0.3.1', names(plugins));
    },
  },
];

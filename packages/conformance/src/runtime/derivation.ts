import { spec } from '../check.ts';
import { must } from '../failure.ts';
import type { Recorded } from './recorder.ts';
import type { RuntimeCheck } from './runtime-check.ts';
import { equalJson, TYPES } from './runtime-lab.ts';

const DERIVING = 'Section 3, Deriving request configuration from plugin configuration';
const PARAMETERS = 'Section 3, Attachment Parameters';

/** What plugins get: variables and configurations. */
export const DERIVATION_CHECKS: readonly RuntimeCheck[] = [
  {
    id: 'runtime/environment',
    title:
      'plugins get the command, container ID, namespace, interface name, arguments and plugin directories as variables',
    cites: spec(PARAMETERS, 'During execution, always set as the `CNI_IFNAME` parameter'),
    why: 'They have nothing else to go by.',
    async run(lab) {
      lab.network();
      const plugins = await lab.succeed('add', { ifName: 'net7', args: 'FOO=bar;ABC=123' });
      for (const { type, env } of plugins) {
        must(env['CNI_COMMAND'] === 'ADD', `CNI_COMMAND=ADD for ${type}`, `${env['CNI_COMMAND']}`);
        const id = env['CNI_CONTAINERID'] ?? '';
        must(/^[a-zA-Z0-9][\w.-]*$/.test(id), `a valid CNI_CONTAINERID for ${type}`, id);
        must(env['CNI_IFNAME'] === 'net7', `CNI_IFNAME=net7 for ${type}`, `${env['CNI_IFNAME']}`);
        const args = env['CNI_ARGS'] ?? '';
        const given = ['FOO=bar', 'ABC=123'].every((pair) => args.split(';').includes(pair));
        must(given, `FOO=bar and ABC=123 in CNI_ARGS for ${type}`, args);
        const path = env['CNI_PATH'] ?? '';
        must(path.split(':').includes(lab.recorders.bin), `${lab.recorders.bin} in CNI_PATH`, path);
      }
    },
  },
  {
    id: 'runtime/namespaces',
    title: "plugins run in the runtime's network namespace, and CNI_NETNS is a path to the container's",
    cites: spec(
      'Section 2, Overview',
      "The runtime must execute the plugin in the runtime's networking domain",
    ),
    why: 'They make one end here and the other end there.',
    async run(lab) {
      lab.network();
      for (const { type, ranIn, netns } of await lab.succeed('add')) {
        must(ranIn === `net:[${lab.node.handle.ino}]`, `${type} in the namespace of the runtime`, ranIn);
        must(netns === `net:[${lab.pod.handle.ino}]`, `CNI_NETNS of ${type} to name the container`, netns);
      }
    },
  },
  {
    id: 'runtime/name-and-version',
    title: 'every configuration has the name and the version of the network',
    cites: spec(
      DERIVING,
      'The following fields are always to be inserted into the request configuration by the runtime',
    ),
    why: 'Plugins refuse what lacks them, and take another version for another form.',
    async run(lab) {
      for (const cniVersion of [lab.newest, '0.4.0']) {
        const name = `kit-${cniVersion}`;
        lab.network({ name, cniVersion });
        for (const { type, config } of await lab.succeed('add', { network: name })) {
          must(config['name'] === name, `name "${name}" for ${type}`, `${config['name']}`);
          must(
            config['cniVersion'] === cniVersion,
            `cniVersion "${cniVersion}" for ${type}`,
            `${config['cniVersion']}`,
          );
        }
        await lab.succeed('del', { network: name });
      }
    },
  },
  {
    id: 'runtime/passes-members',
    title: 'members that the runtime does not know are passed on as they are',
    cites: spec(
      'Section 1, Plugin configuration objects',
      'The runtime MUST pass through these fields, unchanged, to the invoked plugin',
    ),
    why: 'They are the configuration of the plugin.',
    async run(lab) {
      const members = {
        text: 'ü "quoted" <&> \u2028',
        numbers: [0, -1, 1.5, 9007199254740991],
        nothing: null,
        empty: {},
        none: [],
        Case: { cASE: true },
        ipam: { type: 'kit-first', ranges: [[{ subnet: '10.0.0.0/8' }]] },
      };
      lab.network({ plugins: [{ type: 'kit-first', ...members }] });
      const [plugin] = await lab.succeed('add');
      for (const [name, value] of Object.entries(members)) {
        const got = plugin?.config[name];
        must(equalJson(got, value), `${name}: ${JSON.stringify(value)}`, `${JSON.stringify(got)}`);
      }
    },
  },
  {
    id: 'runtime/capabilities',
    title:
      'runtimeConfig has exactly the capability arguments that the plugin declares and the caller has given',
    cites: spec(
      'Section 3, Deriving `runtimeConfig`',
      'any capability supported by the plugin configuration and provided by the runtime should be inserted',
    ),
    why: 'A plugin that gets what it did not declare may act on it twice.',
    async run(lab) {
      const capabilities = { portMappings: true, ips: false, mac: true };
      lab.network({ plugins: [{ type: 'kit-first', capabilities }, { type: 'kit-second' }] });
      const portMappings = [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }];
      const capabilityArgs = { portMappings, ips: ['10.1.2.3/24'], bandwidth: { ingressRate: 1 } };
      const [first, second] = await lab.succeed('add', { capabilityArgs });
      const given = first?.config['runtimeConfig'];
      must(equalJson(given, { portMappings }), 'portMappings and nothing else', `${JSON.stringify(given)}`);
      const none = second?.config['runtimeConfig'];
      must(
        none === undefined || equalJson(none, {}),
        'no runtimeConfig for a plugin without capabilities',
        `${JSON.stringify(none)}`,
      );
    },
  },
  {
    id: 'runtime/no-capabilities-member',
    title: 'plugins do not get the member capabilities',
    cites: spec(DERIVING, '`capabilities`: must not be set'),
    why: 'It is for the runtime.',
    async run(lab) {
      lab.network({ plugins: [{ type: 'kit-first', capabilities: { mac: true } }] });
      const [plugin] = await lab.succeed('add');
      must(!('capabilities' in (plugin?.config ?? {})), 'no member capabilities', `${plugin?.stdin}`);
    },
  },
  {
    id: 'runtime/previous-results',
    title: 'on ADD the first plugin gets no previous result, each other one that of the plugin before',
    cites: spec(
      'Section 3, Adding an attachment',
      'the previous result is the result of the previous plugins',
    ),
    why: 'A chain is made of it.',
    async run(lab) {
      lab.network();
      const plugins = await lab.succeed('add');
      must(plugins.length === 3, 'three plugins', names(plugins));
      for (const [index, { type, config }] of plugins.entries()) {
        const before = TYPES[index - 1];
        const wanted = before === undefined ? undefined : lab.result(before);
        const got = config['prevResult'];
        const same = wanted === undefined ? got === undefined : equalJson(got, wanted);
        must(
          same,
          `the previous result ${JSON.stringify(wanted ?? 'none')} for ${type}`,
          `${JSON.stringify(got)}`,
        );
      }
    },
  },
  {
    id: 'runtime/highest-version',
    title: 'of several versions the highest that the runtime knows is used',
    cites: spec(
      'Section 1, Version considerations',
      'CNI runtimes MUST select the highest supported version',
    ),
    why: 'A configuration for old and new runtimes is written once.',
    async run(lab) {
      lab.network({ cniVersion: '0.4.0', more: { cniVersions: ['0.3.1', '1.0.0', '0.4.0', '99.0.0'] } });
      for (const type of TYPES) lab.recorders.answer(type, lab.result(type, '1.0.0'));
      const [plugin] = await lab.succeed('add');
      must(plugin?.config['cniVersion'] === '1.0.0', 'cniVersion "1.0.0"', `${plugin?.config['cniVersion']}`);
    },
  },
  {
    id: 'runtime/sibling-plugins',
    title:
      'plugins in the folder that is called like the network are appended, unless loadOnlyInlinedPlugins is set',
    cites: spec(
      'Section 1, Configuration format',
      'must be appended to the final list of `plugins` for that network name',
    ),
    why: 'Operators add plugins without touching the file of another package.',
    async run(lab) {
      lab.network({ name: 'kit-more', plugins: [{ type: 'kit-first' }] });
      lab.sibling('kit-more', '10-second.conf', { type: 'kit-second' });
      const both = await lab.succeed('add', { network: 'kit-more' });
      must(names(both) === 'kit-first kit-second', 'kit-first kit-second', names(both));
      lab.network({
        name: 'kit-only',
        plugins: [{ type: 'kit-first' }],
        more: { loadOnlyInlinedPlugins: true },
      });
      lab.sibling('kit-only', '10-second.conf', { type: 'kit-second' });
      const one = await lab.succeed('add', { network: 'kit-only' });
      must(names(one) === 'kit-first', 'kit-first', names(one));
    },
  },
];

/** The types of plugins that were called, in order. */
export function names(plugins: readonly Recorded[]): string {
  return plugins.map(({ type }) => type).join(' ');
}

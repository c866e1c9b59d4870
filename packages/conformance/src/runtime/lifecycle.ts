import { isJsonObject } from '@heddle/cni';
import { spec } from '../check.ts';
import { must } from '../failure.ts';
import { names } from './derivation.ts';
import type { RuntimeCheck } from './runtime-check.ts';
import { equalJson, type RuntimeLab, said, TYPES } from './runtime-lab.ts';

const ALL = TYPES.join(' ');
const BACKWARDS = TYPES.toReversed().join(' ');
const ADDING = 'Section 3, Adding an attachment';
const DELETING = 'Section 3, Deleting an attachment';
const CHECKING = 'Section 3, Checking an attachment';
const LIFECYCLE = 'Section 3, Lifecycle & Ordering';

/** An error as a plugin prints it. */
function failing(code: number, msg: string): string {
  return `echo '{"cniVersion":"1.1.0","code":${code},"msg":"${msg}"}'; exit 1`;
}

/** Which plugins run when, and what becomes of failures. */
export const LIFECYCLE_CHECKS: readonly RuntimeCheck[] = [
  {
    id: 'runtime/add-order',
    title: 'ADD runs the plugins in the order of the list, and gives the last result',
    cites: spec(ADDING, 'For every configuration defined in the `plugins` key of the network configuration'),
    why: 'Chained plugins change what those before have made.',
    async run(lab) {
      lab.network();
      const { call, plugins } = await lab.run('add');
      must(call.exitCode === 0, 'add to succeed', () => said(call), call);
      must(names(plugins) === ALL, ALL, names(plugins), call);
    },
  },
  {
    id: 'runtime/failed-add',
    title: 'when a plugin fails on ADD those behind it do not run, and the caller is told its words',
    cites: spec(ADDING, 'If the plugin returns an error, halt execution and return the error to the caller'),
    why: 'They would work on nothing; and somebody has to mend it.',
    async run(lab) {
      lab.network();
      using _ = lab.recorders.misbehave('kit-second', 'ADD', failing(122, 'the-moon-is-full'));
      const { call, plugins } = await lab.fail('add');
      const ran = names(plugins.filter(({ command }) => command === 'ADD'));
      must(ran === 'kit-first kit-second', 'kit-first kit-second', ran, call);
      must(said(call).includes('the-moon-is-full'), "the plugin's words", said(call), call);
    },
  },
  {
    id: 'runtime/del-after-failed-add',
    title: 'after a failed ADD there is a DEL for the plugins that ran, at once or when it is asked for',
    cites: spec(LIFECYCLE, 'A _delete_ must still be executed even if the _add_ fails'),
    why: 'What the first plugins have made would stay.',
    async run(lab) {
      lab.network();
      using _ = lab.recorders.misbehave('kit-second', 'ADD', failing(122, 'fails'));
      const { plugins } = await lab.fail('add');
      const undone = names(plugins.filter(({ command }) => command === 'DEL'));
      const later = await lab.succeed('del');
      const all = `${undone} ${names(later)}`;
      must(all.includes('kit-first') && all.includes('kit-second'), 'DEL of kit-first and kit-second', all);
    },
  },
  ...(
    [
      ['garbage', 'prints no JSON', 'echo hello; exit 0'],
      ['no-result', 'prints nothing', 'exit 0'],
      ['silent-failure', 'fails without a word', 'exit 7'],
      ['words', 'fails with words that are no JSON', 'echo oops; exit 1'],
      ['death', 'dies of a signal', 'kill -SEGV $$; sleep 5'],
    ] as const
  ).map(
    ([name, what, commands]): RuntimeCheck => ({
      id: `runtime/plugin-${name}`,
      title: `a plugin that ${what} on ADD fails the ADD`,
      cites: spec(
        'Section 2, Errors',
        'A plugin must exit with a return code of 0 on success, and non-zero on failure',
      ),
      why: 'A container would start without network.',
      async run(lab) {
        lab.network();
        using _ = lab.recorders.misbehave('kit-second', 'ADD', commands);
        const { call, plugins } = await lab.fail('add');
        const ran = names(plugins.filter(({ command }) => command === 'ADD'));
        must(ran === 'kit-first kit-second', 'kit-first kit-second', ran, call);
        must(
          said(call).includes('kit-second') || name === 'words',
          'an error that names kit-second',
          said(call),
          call,
        );
      },
    }),
  ),
  {
    id: 'runtime/plugin-stderr',
    title: 'what plugins say on stderr does no harm',
    cites: spec('Section 5, Error', 'stderr can be used for unstructured output such as logs'),
    why: 'Most of them log there.',
    async run(lab) {
      lab.network();
      using _ = lab.recorders.misbehave('kit-second', 'ADD', 'echo a log line >&2');
      must(names(await lab.succeed('add')) === ALL, ALL, 'others');
    },
  },
  {
    id: 'runtime/plugin-missing',
    title: 'a plugin that is not there fails the ADD, with its name',
    cites: spec(
      ADDING,
      'Look up the executable specified in the `type` field. If this does not exist, then this is an error',
    ),
    why: 'Somebody has to install it.',
    async run(lab) {
      lab.network({ plugins: [{ type: 'kit-first' }, { type: 'kit-nowhere' }] });
      const { call } = await lab.fail('add');
      must(said(call).includes('kit-nowhere'), 'an error that names kit-nowhere', said(call), call);
    },
  },
  {
    id: 'runtime/del-order',
    title: 'DEL runs the plugins backwards, with the final result of ADD, and the same parameters',
    cites: spec(DELETING, 'The list of plugins is executed in **reverse order**'),
    why: 'What was built last goes first; and IDs are what plugins find their things by.',
    async run(lab) {
      lab.network();
      const options = { ifName: 'net3', args: 'A=b' };
      const added = await lab.succeed('add', options);
      const deleted = await lab.succeed('del', options);
      must(names(deleted) === BACKWARDS, BACKWARDS, names(deleted));
      await mustHaveFinal(lab, deleted);
      for (const { type, env } of deleted) {
        for (const name of ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME', 'CNI_ARGS']) {
          const before = added[0]?.env[name];
          must(env[name] === before, `${name}=${before} for ${type}`, `${env[name]}`);
        }
      }
    },
  },
  {
    id: 'runtime/failed-del',
    title: 'a plugin that fails on DEL fails the DEL, which can be repeated with the same previous result',
    cites: spec(DELETING, 'return the error to the caller'),
    why: 'What it could not remove would be forgotten.',
    async run(lab) {
      lab.network();
      await lab.succeed('add');
      {
        using _ = lab.recorders.misbehave('kit-second', 'DEL', failing(122, 'not-yet'));
        const { call } = await lab.fail('del');
        must(said(call).includes('not-yet'), "the plugin's words", said(call), call);
      }
      const again = await lab.succeed('del');
      must(names(again) === BACKWARDS, BACKWARDS, names(again));
      await mustHaveFinal(lab, again);
    },
  },
  {
    id: 'runtime/forgets',
    title: 'after a DEL the result is forgotten',
    cites: 'beyond the spec',
    why: 'The next container of that name is another one.',
    async run(lab) {
      lab.network();
      await lab.succeed('add');
      await lab.succeed('del');
      const { plugins } = await lab.run('del');
      const told = plugins.find(({ config }) => isJsonObject(config['prevResult']));
      must(told === undefined, 'no previous result any more', `${told?.stdin}`);
    },
  },
  {
    id: 'runtime/interfaces-apart',
    title: 'two interfaces of one container have results of their own',
    cites: spec(
      'Section 3, Execution of Network Configurations',
      'uniquely identified by the `(CNI_CONTAINERID, CNI_IFNAME)` tuple',
    ),
    why: 'Else DEL of one would be told of the addresses of the other.',
    async run(lab) {
      lab.network({ plugins: [{ type: 'kit-first' }] });
      await lab.succeed('add', { ifName: 'net1' });
      lab.recorders.answer('kit-first', lab.result('kit-second'));
      await lab.succeed('add', { ifName: 'net2' });
      for (const [ifName, type] of [
        ['net1', 'kit-first'],
        ['net2', 'kit-second'],
      ] as const) {
        const [plugin] = await lab.succeed('del', { ifName });
        const got = plugin?.config['prevResult'];
        must(equalJson(got, lab.result(type)), `the result of ${ifName}`, `${JSON.stringify(got)}`);
      }
    },
  },
  {
    id: 'runtime/check-order',
    title: 'CHECK runs the plugins in order, each with the final result of ADD',
    cites: spec(CHECKING, 'the previous result provided is always the final result of the _add_ operation'),
    why: 'They compare with it.',
    async run(lab) {
      lab.network();
      await lab.succeed('add');
      const plugins = await lab.succeed('check');
      must(names(plugins) === ALL, ALL, names(plugins));
      await mustHaveFinal(lab, plugins);
    },
  },
  {
    id: 'runtime/failed-check',
    title: 'a plugin that fails on CHECK fails the CHECK, and ends it',
    cites: spec(
      CHECKING,
      'If the plugin returns an error, halt execution and return the error to the caller',
    ),
    why: 'That is what it is asked for.',
    async run(lab) {
      lab.network();
      await lab.succeed('add');
      using _ = lab.recorders.misbehave('kit-second', 'CHECK', failing(122, 'a-route-is-gone'));
      const { call, plugins } = await lab.fail('check');
      must(said(call).includes('a-route-is-gone'), "the plugin's words", said(call), call);
      must(names(plugins) === 'kit-first kit-second', 'kit-first kit-second', names(plugins), call);
    },
  },
  {
    id: 'runtime/disable-check',
    title: 'with disableCheck no plugin is asked, and CHECK succeeds',
    cites: spec(
      CHECKING,
      'If the network configuration defines `disableCheck`, then always return success to the caller',
    ),
    why: 'Some chains raise false alarms.',
    async run(lab) {
      lab.network({ more: { disableCheck: true } });
      await lab.succeed('add');
      const plugins = await lab.succeed('check');
      must(plugins.length === 0, 'no call of a plugin', names(plugins));
    },
  },
];

async function mustHaveFinal(
  lab: RuntimeLab,
  plugins: Awaited<ReturnType<RuntimeLab['succeed']>>,
): Promise<void> {
  const wanted = lab.result('kit-third');
  for (const { type, command, config } of plugins) {
    const got = config['prevResult'];
    must(equalJson(got, wanted), `the final result for ${command} of ${type}`, `${JSON.stringify(got)}`);
  }
}

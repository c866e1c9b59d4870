import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { allOf, type Check, since, spec } from '../check.ts';
import { DoesNotApply, must } from '../failure.ts';
import { type Lab, mustSucceed, outcome } from '../lab/lab.ts';
import { STUB_IPAM } from '../lab/stub-ipam.ts';
import type { Subject } from '../subject/subject.ts';
import { refusal } from './errors.ts';
import { nodeUnchanged } from './unchanged.ts';

const does = ({ delegates }: Subject) =>
  delegates ? undefined : `about configurations whose ipam.type is ${STUB_IPAM}, the kit's own`;
const PROCEDURE = 'Section 4, Delegated plugin execution procedure';
const ALSO = spec(PROCEDURE, 'it must also execute any delegated plugins');
const ERRORS = spec(
  PROCEDURE,
  'If any of the delegated plugins return error, error should be returned by the upper plugin',
);

/** An error as a plugin prints it, for the stub to print. */
function failing(code: number, msg: string): string {
  return `echo '{"cniVersion":"1.1.0","code":${code},"msg":"${msg}"}'; exit 1`;
}

/** Plugins that have another one manage their addresses. */
export const DELEGATION_CHECKS: readonly Check[] = [
  {
    id: 'delegation/same-call',
    title: 'the delegate gets the environment and the complete configuration that the plugin got',
    cites: spec(
      'Section 4, Delegated Plugin protocol',
      'must receive all the same environment variables that were passed in to the CNI plugin',
    ),
    why: 'Address managers take names of pods from CNI_ARGS, and wishes from any member of the configuration.',
    skips: does,
    async run(lab) {
      const container = await lab.container();
      const options = {
        env: { CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAME=web-0' },
        config: { 'conformance.example/wish': { deep: [1, 'two', null] } },
      };
      const { call } = await lab.add(container, options);
      const [given] = lab.stub.calls('ADD');
      must(given !== undefined, `ADD of ${STUB_IPAM}`, 'no call of it', call);
      for (const [name, value] of Object.entries(call.env)) {
        must(given.env[name] === value, `${name}=${value} for the delegate`, `${given.env[name]}`, call);
      }
      const same = isDeepStrictEqual(given.config, JSON.parse(String(call.stdin)));
      must(same, 'the same configuration for the delegate', given.stdin, call);
    },
  },
  forwards('DEL', 'ADD, then DEL', undefined, async (lab) => {
    const container = await lab.container();
    await lab.add(container);
    await lab.del(container);
  }),
  forwards('CHECK', 'CHECK', since('0.4.0'), async (lab) => {
    const container = await lab.container();
    await lab.add(container);
    await lab.check(container);
  }),
  forwards('GC', 'GC', since('1.1.0'), async (lab) => {
    mustSucceed(await lab.gc([]));
  }),
  forwards('STATUS', 'STATUS', since('1.1.0'), async (lab) => {
    mustSucceed(await lab.call('STATUS'));
  }),
  passesErrors('CHECK', since('0.4.0')),
  passesErrors('DEL', undefined),
  passesErrors('GC', since('1.1.0')),
  passesErrors('STATUS', since('1.1.0')),
  {
    id: 'delegation/failed-add',
    title: 'a failed ADD of the delegate fails the ADD, with its code and its text',
    cites: ERRORS,
    why: 'The code says whether to try again, and the text what to mend.',
    skips: does,
    async run(lab) {
      using _ = lab.stub.misbehave('ADD', { script: failing(11, 'nothing left here') });
      const call = await lab.call('ADD', await lab.container());
      const { code, text } = refusal(call, 'when the delegate fails');
      must(code === 11, "the delegate's code 11", `${code}`, call);
      must(text.includes('nothing left here'), "the delegate's text", () => outcome(call), call);
    },
  },
  {
    id: 'delegation/failed-add-del',
    title: 'after a failed ADD of the delegate its DEL is run',
    cites: spec(PROCEDURE, 'should execute again with `DEL` before returning failure'),
    why: 'What the delegate had reserved before it failed would be lost.',
    skips: does,
    async run(lab) {
      using _ = lab.stub.misbehave('ADD', { script: failing(11, 'nothing left here') });
      const call = await lab.call('ADD', await lab.container());
      must(lab.stub.calls('DEL').length > 0, `DEL of ${STUB_IPAM}`, 'none', call);
    },
  },
  {
    id: 'delegation/failed-add-leaves-nothing',
    title: 'a failed ADD of the delegate leaves nothing of the plugin either',
    cites: 'beyond the spec',
    why: 'While a pool is exhausted runtimes try again every few seconds.',
    skips: does,
    async run(lab) {
      await lab.warmUp();
      const before = await lab.snapshot();
      using _ = lab.stub.misbehave('ADD', { script: failing(11, 'nothing left here') });
      refusal(await lab.call('ADD', await lab.container()), 'when the delegate fails');
      await nodeUnchanged(lab, before, 'the failed ADD');
    },
  },
  {
    id: 'delegation/undone-add',
    title: 'an ADD that fails after the delegate has given an address gives it back',
    cites: spec(PROCEDURE, 'If, on `ADD`, a delegated plugin fails'),
    why: 'Retries would use up the pool.',
    skips: allOf(does, (subject: Subject) =>
      subject.makesInterface ? undefined : 'about plugins that make an interface',
    ),
    async run(lab) {
      const container = await lab.container();
      await container.namespace.session.links.add({
        kind: 'veth',
        name: container.ifName,
        peer: { name: 'far' },
      });
      const call = await lab.call('ADD', container);
      if (call.exitCode === 0)
        throw new DoesNotApply('ADD takes a name that is taken, which another check tells');
      refusal(call, 'for a name that is taken');
      const held = lab.stub.held().filter((key) => key.startsWith(`${container.id} `));
      must(held.length === 0, 'no address that is held', held.join(', '));
    },
  },
  ...(
    [
      ['no-json', 'text in place of JSON', 'echo hello; exit 0'],
      ['nothing', 'nothing on stdout', 'exit 0'],
      ['half', 'JSON that is cut off', `printf '{"cniVersion":"1.1.0","ips":['; exit 0`],
      ['other-json', 'JSON that is no result', `echo '[1,2,3]'; exit 0`],
      [
        'bad-address',
        'an address that is none',
        `echo '{"cniVersion":"'$version'","ips":[{"version":"4","address":"10.1.2.300/24"}]}'; exit 0`,
      ],
      ['no-address', 'a result without addresses', `echo '{"cniVersion":"'$version'"}'; exit 0`],
      ['silent-failure', 'an exit code without a word', 'exit 3'],
      ['log-failure', 'an exit code and words that are no JSON', 'echo oops; echo really >&2; exit 1'],
      ['death', 'death by a signal', 'kill -SEGV $$; sleep 5'],
    ] as const
  ).map(
    ([name, what, script]): Check => ({
      id: `delegation/answers-${name}`,
      title: `a delegate whose ADD answers with ${what} is an error, and DEL cleans up`,
      cites: spec(
        'Section 4, Delegated Plugin protocol',
        'a zero return code and a _Success_ result type output to stdout',
      ),
      why: 'Delegates are other people’s programs.',
      skips: does,
      async run(lab) {
        await lab.warmUp();
        const before = await lab.snapshot();
        const container = await lab.container();
        {
          using _ = lab.stub.misbehave('ADD', { script });
          refusal(await lab.call('ADD', container), `when the delegate answers with ${what}`);
        }
        await lab.del(container);
        await nodeUnchanged(lab, before, 'the failed ADD and DEL');
      },
    }),
  ),
  {
    id: 'delegation/missing',
    title: 'a delegate that is not there is an error that names it',
    cites: spec('Section 4, Delegated Plugin protocol', 'indicated to the CNI plugin via `CNI_PATH`'),
    why: 'Somebody has to install it.',
    skips: does,
    async run(lab) {
      const container = await lab.container();
      const call = await lab.call('ADD', container, { config: { ipam: { type: 'kit-nowhere' } } });
      const { text } = refusal(call, 'for a delegate that is not there');
      must(text.includes('kit-nowhere'), 'an error that names kit-nowhere', () => outcome(call), call);
    },
  },
  {
    id: 'delegation/no-escape',
    title: 'a delegate is looked for in the directories of CNI_PATH, and nowhere else',
    cites: spec(
      'Section 1, Plugin configuration objects',
      'Must not contain characters disallowed in file paths',
    ),
    why: 'A configuration must not choose which programs run as root.',
    skips: does,
    async run(lab) {
      for (const type of ['../../../../bin/sh', '/bin/sh', '.', '']) {
        const call = await lab.call('ADD', await lab.container(), { config: { ipam: { type } } });
        if (type !== '') refusal(call, `for the delegate ${JSON.stringify(type)}`);
        must(lab.stub.calls('ADD').length === 0, 'no call of a delegate', 'one', call);
      }
    },
  },
  {
    id: 'delegation/stderr',
    title: "what the delegate says on stderr is on the plugin's stderr",
    cites: spec(
      PROCEDURE,
      "Ensure that the delegated plugin's stderr is output to the calling plugin's stderr",
    ),
    why: 'Its warnings would never be read.',
    skips: does,
    async run(lab) {
      using _ = lab.stub.misbehave('ADD', { script: 'echo a-word-of-warning >&2' });
      const { call } = await lab.add(await lab.container());
      must(
        call.stderr.includes('a-word-of-warning'),
        'the words of the delegate',
        call.stderr || 'nothing',
        call,
      );
    },
  },
  {
    id: 'delegation/hanging',
    title: 'a delegate that hangs holds up no other container, and DEL cleans up after the plugin was killed',
    cites: spec(
      'Section 3, Lifecycle & Ordering',
      'Plugins must handle being executed concurrently across different containers',
    ),
    why: 'A DHCP server that does not answer would stop the node.',
    skips: does,
    async run(lab) {
      await lab.warmUp();
      const before = await lab.snapshot();
      const [stuck, other] = await lab.containers(2);
      must(stuck !== undefined && other !== undefined, 'two containers', 'fewer');
      using _ = lab.stub.misbehave('ADD', {
        script: `if [ "$CNI_CONTAINERID" = '${stuck.id}' ]; then exec sleep 600; fi`,
      });
      const killing = new AbortController();
      const hanging = lab.call('ADD', stuck, { until: killing.signal }).catch(() => {});
      const isStuck = () => lab.stub.calls('ADD').some(({ env }) => env['CNI_CONTAINERID'] === stuck.id);
      let ended = false;
      void hanging.then(() => {
        ended = true;
      });
      while (!isStuck() && !ended) await sleep(20);
      await lab.add(other, { patience: 60_000 });
      await lab.del(other, { patience: 60_000 });
      killing.abort();
      await hanging;
      await lab.del(stuck, { prevResult: null });
      await nodeUnchanged(lab, before, 'the ADD that hung');
    },
  },
  {
    id: 'delegation/failed-del-goes-on',
    title: 'DEL takes down what is its own also when the delegate fails',
    cites: spec(
      'Section 2, DEL',
      'to the fullest extent possible, even if some resources or state are missing',
    ),
    why: 'A broken address manager must not pile up interfaces and rules.',
    skips: does,
    async run(lab) {
      await lab.warmUp();
      const before = await lab.snapshot();
      const container = await lab.container();
      await lab.add(container);
      using _ = lab.stub.misbehave('DEL', { script: failing(100, 'cannot release') });
      await lab.call('DEL', container);
      await nodeUnchanged(lab, before, 'ADD and a DEL whose delegate fails');
    },
  },
];

function forwards(
  command: 'DEL' | 'CHECK' | 'GC' | 'STATUS',
  what: string,
  condition: Check['skips'],
  run: (lab: Lab) => Promise<void>,
): Check {
  return {
    id: `delegation/forwards-${command.toLowerCase()}`,
    title: `${command} is forwarded to the delegate`,
    cites:
      command === 'STATUS'
        ? spec('Section 2, STATUS', 'it must also execute a `STATUS` request to that plugin')
        : command === 'GC'
          ? spec('Section 2, GC', 'Plugins MUST, additionally, forward any GC calls to delegated plugins')
          : ALSO,
    why: 'Nobody else calls it.',
    skips: condition === undefined ? does : allOf(condition, does),
    async run(lab) {
      await run(lab);
      const calls = lab.stub.calls(command);
      must(calls.length === 1, `one ${command} of ${STUB_IPAM} for ${what}`, `${calls.length}`);
    },
  };
}

function passesErrors(command: 'DEL' | 'CHECK' | 'GC' | 'STATUS', condition: Check['skips']): Check {
  return {
    id: `delegation/failed-${command.toLowerCase()}`,
    title: `a failure of the delegate's ${command} is told`,
    cites: ERRORS,
    why: 'The caller would believe that all is well.',
    skips: condition === undefined ? does : allOf(condition, does),
    async run(lab) {
      const container = await lab.container();
      await lab.add(container);
      using _ = lab.stub.misbehave(command, { script: failing(50, 'the pool is on fire') });
      const call =
        command === 'GC'
          ? await lab.gc([container])
          : await lab.call(command, command === 'STATUS' ? undefined : container);
      const { text } = refusal(call, `when the delegate's ${command} fails`);
      must(text.includes('the pool is on fire'), "the delegate's text", () => outcome(call), call);
    },
  };
}

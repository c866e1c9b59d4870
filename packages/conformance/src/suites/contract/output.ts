import { type Check, since, spec } from '../../check.ts';
import { must } from '../../failure.ts';
import { type Lab, mustSucceed, outcome } from '../../lab/lab.ts';
import { refusal } from '../errors.ts';
import { mustBeSound } from '../unless-always.ts';

/** What goes out by stdout, and the exit code. */
export const OUTPUT_CHECKS: readonly Check[] = [
  {
    id: 'contract/only-the-result',
    title: 'a successful ADD prints its result on stdout and nothing else',
    cites: spec('Section 2, ADD', 'it must output a result structure (see below) on standard out'),
    why: 'One line of a log makes JSON unreadable, and the pod fails.',
    async run(lab) {
      const container = await lab.container();
      await lab.add(container);
      await lab.del(container);
    },
  },
  silent('DEL', 'contract/silent-del'),
  { ...silent('CHECK', 'contract/silent-check'), skips: since('0.4.0') },
  { ...silent('GC', 'contract/silent-gc'), skips: since('1.1.0') },
  { ...silent('STATUS', 'contract/silent-status'), skips: since('1.1.0') },
  {
    id: 'contract/error-object',
    title: 'an error is an exit code other than 0 and one JSON object with code and msg on stdout',
    cites: spec(
      'Section 5, Error',
      'Plugins should output a JSON object with the following keys if they encounter an error',
    ),
    why: 'Runtimes show the text to people, and act on the code.',
    async run(lab) {
      refusal(await lab.call('ADD', await lab.container(), { stdin: 'nonsense' }), 'for nonsense');
      refusal(await lab.call('NOTHING', await lab.container()), 'for an unknown command');
    },
  },
  {
    id: 'contract/error-version',
    title: 'an error says the protocol version in use',
    cites: spec('Section 5, Error', '`cniVersion`: The protocol version in use'),
    why: 'The object can be read only by its version once there are several forms.',
    async run(lab) {
      const { version } = lab.subject;
      const call = await lab.call('NOTHING', await lab.container());
      const { json } = refusal(call, 'for an unknown command');
      must(json['cniVersion'] === version, `cniVersion "${version}" in the error`, () => outcome(call), call);
    },
  },
];

/** CHECK, DEL, GC and STATUS have no result. */
function silent(command: string, id: `contract/${string}`): Check {
  return {
    id,
    title: `a successful ${command} prints nothing on stdout`,
    cites:
      command === 'GC'
        ? spec('Section 2, GC', 'No output on success')
        : spec('Section 5, Result Types', 'For certain operations, plugins must output result information'),
    why: 'Runtimes take whatever is there for an error, or for a result.',
    async run(lab) {
      const container = await lab.container();
      await lab.add(container);
      if (command === 'CHECK') await mustBeSound(lab, container);
      const call = mustSucceed(await about(lab, command, container));
      must(call.stdout === '', 'nothing on stdout', () => call.stdout, call);
    },
  };
}

async function about(lab: Lab, command: string, container: Awaited<ReturnType<Lab['container']>>) {
  if (command === 'GC') return await lab.gc([container]);
  return await lab.call(command, command === 'STATUS' ? undefined : container);
}

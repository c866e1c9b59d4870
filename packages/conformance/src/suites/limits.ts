import { utimesSync } from 'node:fs';
import { type Check, spec } from '../check.ts';
import { must } from '../failure.ts';
import type { Container } from '../lab/container.ts';
import { jsonOf, type Lab, mustSucceed } from '../lab/lab.ts';
import { filesIn } from '../lab/snapshot.ts';
import { refusal } from './errors.ts';
import { mustBeAsBefore, mustBeSound, mustComeBack } from './unless-always.ts';

/** Writes stdout to a pipe, as runtimes have it, which the limit is not about; here it would be a file. */
const WITHOUT_FILES =
  'exec 3>&1; status=$({ { ulimit -f 0; "$0" 3>&- 2>/dev/null; echo $? >&4; } | cat >&3; } 4>&1); exit $status';

const IO = spec('Section 5, Error', '`5`|I/O failure');

/** When resources run out. */
export const LIMIT_CHECKS: readonly Check[] = [
  {
    id: 'limits/descriptors',
    title: 'with few file descriptors ADD works, or fails in order; afterwards DEL cleans up and ADD works',
    cites: 'beyond the spec',
    why: 'A runtime that leaks descriptors hands its limit on.',
    run: (lab) => hardTimes(lab, { shell: 'ulimit -n 20; exec "$0"' }, () => new DisposableStack()),
  },
  {
    id: 'limits/disk-full',
    title: 'with a full disk ADD works, or fails in order; afterwards DEL cleans up and ADD works',
    cites: IO,
    why: 'A reservation that is cut off in the middle would be held by nobody, or by everybody.',
    run: (lab) => hardTimes(lab, {}, () => lab.house.fillDisks()),
  },
  {
    id: 'limits/read-only',
    title:
      'with read-only data directories ADD works, or fails in order; afterwards DEL cleans up and ADD works',
    cites: IO,
    why: 'That is how the kernel leaves a file system with errors.',
    run: (lab) => hardTimes(lab, {}, () => lab.house.lockDisks()),
  },
  {
    id: 'limits/del-on-full-disk',
    title: 'DEL works with a full disk',
    cites: spec(
      'Section 2, DEL',
      'to the fullest extent possible, even if some resources or state are missing',
    ),
    why: 'Deleting is the way out of it.',
    async run(lab) {
      await lab.warmUp();
      const before = await lab.snapshot();
      const container = await lab.container();
      await lab.add(container);
      {
        using _ = lab.house.fillDisks();
        await lab.del(container);
      }
      await mustBeAsBefore(lab, before, 'ADD, and DEL with a full disk');
    },
  },
  {
    id: 'limits/file-size',
    title:
      'where no file may be written ADD works, or fails in order; afterwards DEL cleans up and ADD works',
    cites: 'beyond the spec',
    why: 'The kernel ends a process with a signal for it, unless that is expected.',
    run: (lab) => hardTimes(lab, { shell: WITHOUT_FILES }, () => new DisposableStack(), 'may die'),
  },
  {
    id: 'limits/clock',
    title: 'the clock may jump a year either way between ADD and CHECK, DEL, GC',
    cites: 'beyond the spec',
    why: 'Machines come up with a wrong clock that is set right later.',
    async run(lab) {
      for (const years of [-1, 1]) {
        const [kept, gone] = await lab.containers(2);
        must(kept !== undefined && gone !== undefined, 'two containers', 'fewer');
        await lab.add(kept);
        jump(lab, years);
        if (lab.subject.speaks('0.4.0')) await mustBeSound(lab, kept);
        if (lab.subject.speaks('1.1.0')) mustSucceed(await lab.gc([kept]));
        await lab.add(gone);
        await lab.del(gone);
        if (lab.subject.speaks('0.4.0')) await mustBeSound(lab, kept);
        await lab.del(kept);
      }
    },
  },
];

/** ADD while something is short, then DEL and ADD when it is not any more. */
async function hardTimes(
  lab: Lab,
  options: { readonly shell?: string },
  begin: () => Disposable,
  death: 'may die' | 'must not die' = 'must not die',
): Promise<void> {
  await lab.warmUp();
  const before = await lab.snapshot();
  const container: Container = await lab.container();
  {
    using _ = begin();
    const call = await lab.call('ADD', container, options);
    // A runtime that got a result sends it with DEL.
    if (call.exitCode === 0) container.result = jsonOf(call);
    else if (!(death === 'may die' && call.stdout === '')) refusal(call, 'in order, or success');
  }
  await lab.del(container);
  await mustBeAsBefore(lab, before, 'ADD in hard times, and DEL');
  await mustComeBack(lab, container);
  await lab.del(container);
}

/** What a jump of the clock looks like to a plugin: everything that it wrote is from another time. */
function jump({ house }: Lab, years: number): void {
  const then = new Date(Date.now() - years * 365 * 24 * 3600 * 1000);
  for (const line of filesIn(house.written)) {
    const path = line.replace(/^file /, '');
    try {
      utimesSync(path, then, then);
    } catch {
      // Sockets and what has gone meanwhile.
    }
  }
}

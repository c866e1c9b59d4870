/** What fails in plain circumstances is told once; checks of hard circumstances then say nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPlugin } from '../run.ts';
import { type Fault, ShellPlugin } from '../testing/shell-plugin.ts';

/** The reasons of checks that did not apply, and how the others ended. */
async function outcomesOf(fault: Fault, only: readonly string[]): Promise<Readonly<Record<string, string>>> {
  using plugin = new ShellPlugin('ipam', [fault]);
  const { outcomes } = await checkPlugin({
    ...{ program: plugin.program, kind: 'ipam', only, env: process.env },
  });
  return Object.fromEntries(outcomes.map(({ id, status, reason }) => [id, reason ?? status]));
}

test('a CHECK that never succeeds is told by the check that is about it', async () => {
  const fault: Fault = ['[ -n "$(mine)" ] || fail 150 \'it has no address\';;', 'fail 150 never;;'];
  const reason = 'CHECK fails right after ADD, which another check tells';
  assert.deepEqual(
    await outcomesOf(fault, ['check/right-after-add', 'contract/silent-check', 'limits/clock']),
    { 'check/right-after-add': 'failed', 'contract/silent-check': reason, 'limits/clock': reason },
  );
});

test('what every DEL leaves is told by the check that is about it', async () => {
  const fault: Fault = ['  DEL) release;;', '  DEL) ;;'];
  const reason = 'any ADD and DEL leave something, which another check tells';
  assert.deepEqual(
    await outcomesOf(fault, ['leaks/node', 'limits/del-on-full-disk', 'concurrency/same-container']),
    { 'leaks/node': 'failed', 'limits/del-on-full-disk': reason, 'concurrency/same-container': reason },
  );
});

test('what a DEL leaves only in hard circumstances is told by the check of these', async () => {
  const fault: Fault = ['  DEL) release;;', '  DEL) [ ! -e "$CNI_NETNS" ] || release;;'];
  assert.deepEqual(await outcomesOf(fault, ['leaks/node', 'idempotence/del-without-netns']), {
    'leaks/node': 'passed',
    'idempotence/del-without-netns': 'failed',
  });
});

test('an ADD that never works after a DEL is told by the check that is about it', async () => {
  const fault: Fault = [
    '  DEL) release;;',
    '  DEL) release; mkdir -p /run/kit-gone; : >"/run/kit-gone/$CNI_CONTAINERID";;',
  ];
  using plugin = new ShellPlugin('ipam', [
    fault,
    ['    claim\n', '    [ ! -e "/run/kit-gone/$CNI_CONTAINERID" ] || fail 102 "it was here"\n    claim\n'],
  ]);
  const { outcomes } = await checkPlugin({
    ...{ program: plugin.program, kind: 'ipam', env: process.env },
    only: ['idempotence/add-again', 'gc/frees-the-stale'],
  });
  assert.deepEqual(
    outcomes.map(({ status, reason }) => reason ?? status),
    ['failed', 'ADD fails after any DEL, which another check tells'],
  );
});

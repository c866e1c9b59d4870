/** At how many calls the checks of the suite crash kill is the caller's to say. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { buildCrash } from '../../../../scripts/build-crash.ts';
import { checkPlugin } from '../run.ts';
import { ShellPlugin } from '../testing/shell-plugin.ts';

buildCrash();
const skip = existsSync('/usr/bin/jq') ? false : 'not installed: jq';

/** How many points were tried, and how many there are. */
async function points(crashPoints: number): Promise<readonly [tried: number, all: number]> {
  using plugin = new ShellPlugin('ipam');
  const { outcomes } = await checkPlugin({
    ...{ program: plugin.program, kind: 'ipam', only: ['crash/del'], env: process.env },
    crashPoints,
  });
  const [outcome] = outcomes;
  assert.equal(outcome?.status, 'passed', outcome?.failure?.got ?? outcome?.reason);
  const [, tried, all] = /^killed at (\d+) of (\d+) points$/.exec(outcome?.note ?? '') ?? [];
  return [Number(tried), Number(all)];
}

test('as many points are tried as are asked for, or every one', { skip }, async () => {
  const [tried, all] = await points(Number.POSITIVE_INFINITY);
  assert.equal(tried, all);
  assert.ok(all > 1, `${all} points`);
  assert.deepEqual(await points(1), [1, all]);
});

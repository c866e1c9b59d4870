import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { WaitingReleases } from './index.ts';

const attachment = (containerID: string) => ({ network: 'net1', containerID, ifName: 'eth0' });

/** A directory in which an hour ago, and just now, a process was killed while it noted something. */
function left() {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-waiting-'));
  const hourAgo = Date.now() / 1000 - 3601;
  for (const name of ['old.give.new', 'others.new', 'young.give.new']) {
    writeFileSync(join(directory, name), '{"network":');
    if (name !== 'young.give.new') utimesSync(join(directory, name), hourAgo, hourAgo);
  }
  return {
    directory,
    waiting: new WaitingReleases(directory),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  };
}

test('what a killed process has left is nothing that waits, and goes with the next that is noted', () => {
  using place = left();
  const { directory, waiting } = place;
  assert.deepEqual(waiting.list(), []);
  waiting.add(attachment('c1'));
  assert.deepEqual(waiting.list(), [attachment('c1')]);
  waiting.remove(attachment('c1'));
  assert.deepEqual(readdirSync(directory).sort(), ['others.new', 'young.give.new']);
});

test('it goes as well when somebody tidies up, also where nothing is', () => {
  using place = left();
  const { directory, waiting } = place;
  waiting.tidy();
  assert.deepEqual(readdirSync(directory).sort(), ['others.new', 'young.give.new']);
  new WaitingReleases(join(directory, 'missing')).tidy();
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { test } from 'node:test';
import { createNetns, runInNetns } from '@heddle/sys';
import { isHeld } from './held.ts';

test('a namespace is held by whoever is in it, and by whoever has it open', async () => {
  using netns = createNetns();
  const ino = Number(netns.ino);
  assert.equal(isHeld(ino), false);
  const guest = runInNetns(netns, () => spawn('sleep', ['600'], { stdio: 'ignore' }));
  assert.equal(isHeld(ino), true);
  guest.kill('SIGKILL');
  await once(guest, 'exit');
  assert.equal(isHeld(ino), false);
  const file = runInNetns(netns, () => openSync('/proc/thread-self/ns/net', 'r'));
  const holder = spawn('sleep', ['600'], { stdio: ['ignore', 'ignore', 'ignore', file] });
  assert.equal(isHeld(ino), true);
  closeSync(file);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  assert.equal(isHeld(ino), false);
});

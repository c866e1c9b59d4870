import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeFormat } from './program-format.ts';

/** The first bytes of an ELF file. */
function elf(machine: number, isBigEndian = false): Uint8Array {
  const head = Buffer.alloc(64);
  head.write('\x7fELF', 'latin1');
  head[5] = isBigEndian ? 2 : 1;
  if (isBigEndian) head.writeUInt16BE(machine, 18);
  else head.writeUInt16LE(machine, 18);
  return head;
}

test('programs of this machine, and scripts, are fine', () => {
  assert.equal(judgeFormat(elf(62), 'x64'), undefined);
  assert.equal(judgeFormat(elf(3), 'x64'), undefined);
  assert.equal(judgeFormat(elf(183), 'arm64'), undefined);
  assert.equal(judgeFormat(elf(22, true), 's390x'), undefined);
  assert.equal(judgeFormat(Buffer.from('#!/bin/sh\n'), 'x64'), undefined);
});

test('programs of another machine are named', () => {
  assert.deepEqual(judgeFormat(elf(183), 'x64'), {
    kind: 'foreign',
    words: 'built for arm64, this machine is x64',
  });
  assert.deepEqual(judgeFormat(elf(62), 'arm64'), {
    kind: 'foreign',
    words: 'built for x64, this machine is arm64',
  });
  assert.deepEqual(judgeFormat(elf(9999), 'x64'), {
    kind: 'foreign',
    words: 'built for ELF machine 9999, this machine is x64',
  });
});

test('what is no program is said so', () => {
  assert.deepEqual(judgeFormat(Buffer.alloc(0), 'x64'), { kind: 'none', words: 'an empty file' });
  assert.match(judgeFormat(Buffer.from('MZ'), 'x64')?.words ?? '', /neither an ELF program nor a script/);
  assert.match(
    judgeFormat(elf(62).subarray(0, 10), 'x64')?.words ?? '',
    /neither an ELF program nor a script/,
  );
});

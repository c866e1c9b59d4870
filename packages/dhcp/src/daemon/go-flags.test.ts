import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeGoFlags, HelpRequested, parseGoFlags } from './go-flags.ts';

const flags = {
  path: { kind: 'string', value: '/run/x', usage: 'where' },
  fast: { kind: 'boolean', value: false, usage: 'whether' },
  wait: { kind: 'duration', value: 10_000, usage: 'how long' },
} as const;
const defaults = { path: '/run/x', fast: false, wait: 10_000 };

test('flags with one dash or two, with "=" or without', () => {
  assert.deepEqual(parseGoFlags(flags, []), defaults);
  for (const words of [
    ['-path', '/y', '-wait', '2s', '-fast'],
    ['--path', '/y', '--wait', '2s', '--fast'],
    ['-path=/y', '--wait=2s', '-fast=true'],
  ]) {
    assert.deepEqual(parseGoFlags(flags, words), { path: '/y', fast: true, wait: 2000 });
  }
  assert.equal(parseGoFlags(flags, ['-path=a=b']).path, 'a=b');
  assert.equal(parseGoFlags(flags, ['-path', '-fast']).path, '-fast');
  assert.equal(parseGoFlags(flags, ['-path=']).path, '');
});

test('a boolean takes its value only behind "="', () => {
  assert.deepEqual(parseGoFlags(flags, ['-fast', 'false']), { ...defaults, fast: true });
  assert.equal(parseGoFlags(flags, ['-fast=F']).fast, false);
});

test('the first word that is no flag ends them', () => {
  for (const end of ['word', '--', '-']) {
    assert.deepEqual(parseGoFlags(flags, [end, '-path', '/y']), defaults);
  }
});

test('what is wrong is said in Go’s words', () => {
  for (const [word, message] of [
    ['-nope', 'flag provided but not defined: -nope'],
    ['-constructor', 'flag provided but not defined: -constructor'],
    ['---path', 'bad flag syntax: ---path'],
    ['-=x', 'bad flag syntax: -=x'],
    ['-path', 'flag needs an argument: -path'],
    ['-wait=10', 'invalid value "10" for flag -wait: parse error'],
    ['-fast=yes', 'invalid boolean value "yes" for -fast: parse error'],
  ] as const) {
    assert.throws(() => parseGoFlags(flags, [word]), { code: 'DHCP_USAGE', message }, word);
  }
  for (const word of ['-h', '--help']) assert.throws(() => parseGoFlags(flags, [word]), HelpRequested);
});

test('the help lists flags with their defaults', () => {
  assert.equal(
    describeGoFlags('program', flags),
    [
      'Usage of program:',
      '  -path string',
      '    \twhere (default "/run/x")',
      '  -fast',
      '    \twhether',
      '  -wait duration',
      '    \thow long (default 10s)',
      '',
    ].join('\n'),
  );
});

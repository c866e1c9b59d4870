import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileRe2 } from './re2.ts';

describe('RE2', () => {
  for (const [source, matching, others] of [
    ['^net\\.ipv4\\.', ['net.ipv4.forward'], ['xnet.ipv4.x', 'netxipv4.x']],
    ['somaxconn', ['net.core.somaxconn', 'somaxconn2'], ['somax']],
    ['[[:alpha:]]+[0-9]$', ['eth0'], ['0', 'eth']],
    ['^[^[:digit:].]+$', ['net/core'], ['net.core', 'net1']],
    ['[]a]', [']', 'a'], ['[', 'b']],
    ['^[\\w\\-.]+$', ['a-b.c_d'], ['a/b']],
    ['\\Anet\\z', ['net'], ['nets', 'a\nnet']],
    ['\\Qa.b*\\E+', ['a.b**'], ['aXb']],
    ['(?i)NET', ['net', 'Net'], ['ne']],
    ['^(?P<family>ipv[46])$', ['ipv4', 'ipv6'], ['ipv5']],
    ['^(?:a|b){2,3}$', ['ab', 'aba'], ['a', 'abab']],
    ['a{,2}', ['a{,2}'], ['aa']],
    ['{}]', ['{}]'], ['{']],
    ['\\x41\\x{42}\\/\\_\\-', ['AB/_-'], ['AB']],
    ['^\\pL$', ['é'], ['1']],
    ['^a\\sb\\S$', ['a bx'], ['a\u00a0bx']],
    ['^.*$', ['', 'net'], []],
  ] as const) {
    test(source, () => {
      const pattern = compileRe2(source);
      for (const text of matching) assert.equal(pattern.test(text), true, text);
      for (const text of others) assert.equal(pattern.test(text), false, text);
    });
  }

  for (const source of [
    '(',
    '[a',
    'a**',
    '(?=a)',
    '(?!a)',
    '(?<=a)b',
    '(a)\\1',
    '\\C',
    '\\y',
    'a\\',
    '[[:nope:]]',
    '(?U)a+',
  ]) {
    test(`${source} is refused`, () => {
      assert.throws(() => compileRe2(source), SyntaxError);
    });
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { joinWords, ruleMeaning, ruleTarget, splitWords } from './rule-text.ts';

test('words survive a line', () => {
  const word = fc.string({ minLength: 0 }).filter((text) => !/[\n\r\0]/.test(text));
  fc.assert(
    fc.property(fc.array(word), (words) => {
      assert.deepEqual(splitWords(joinWords(words)), words);
    }),
  );
});

test('spellings of one rule mean the same', () => {
  const one = splitWords('-d 10.0.0.1 -p 6 --destination-port 80 -j X');
  assert.equal(ruleMeaning(one), ruleMeaning(splitWords('-p tcp -m tcp --dport 80 -d 10.0.0.1/32 -j X')));
  assert.equal(ruleMeaning(['-s', '10.1.2.3/24']), ruleMeaning(['-s', '10.1.2.0/24']));
  assert.equal(ruleMeaning(['-s', 'FD00::8/64']), ruleMeaning(['-s', 'fd00::/64']));
});

test('different rules do not', () => {
  assert.notEqual(ruleMeaning(['-d', '10.0.0.1']), ruleMeaning(['!', '-d', '10.0.0.1']));
  assert.notEqual(ruleMeaning(['-s', '10.0.0.1']), ruleMeaning(['-d', '10.0.0.1']));
});

test('a rule leads where its last -j or -g says', () => {
  assert.equal(ruleTarget(splitWords('-m comment --comment "-j" -j CNI-X')), 'CNI-X');
  assert.equal(ruleTarget(splitWords('-p tcp')), undefined);
});

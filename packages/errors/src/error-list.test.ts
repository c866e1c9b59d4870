import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ErrorList, HeddleError } from './index.ts';

const first = new Error('delete link eth0: EPERM');
const second = new Error('release 10.1.0.5: EACCES');
const third = new Error('delete map element: EBUSY');

test('a list says what failed and every reason', () => {
  const list = new ErrorList('delete attachment', [first, second]);
  assert.ok(list instanceof HeddleError);
  assert.equal(list.name, 'ErrorList');
  assert.equal(list.code, 'SEVERAL');
  assert.equal(list.message, 'delete attachment: delete link eth0: EPERM; release 10.1.0.5: EACCES');
  assert.equal(list.cause, first);
});

test('lists inside lists are flattened in order, at any depth', () => {
  const inner = new ErrorList('inner', [first, new ErrorList('innermost', [second])]);
  assert.deepEqual(new ErrorList('outer', [inner, third]).errors, [first, second, third]);
});

test('whatever was thrown is told, an Error or not', () => {
  const list = new ErrorList('collect', ['plain text', 42]);
  assert.equal(list.message, 'collect: plain text; 42');
  assert.deepEqual(list.errors, ['plain text', 42]);
});

test('later changes to the array that was handed in do not show', () => {
  const problems = [first];
  const list = new ErrorList('collect', problems);
  problems.push(second);
  assert.deepEqual(list.errors, [first]);
});

test('throwIfAny throws nothing for none, the error itself for one, a list for more', () => {
  ErrorList.throwIfAny('delete attachment', []);
  assert.throws(
    () => ErrorList.throwIfAny('delete attachment', [first]),
    (error) => error === first,
  );
  assert.throws(
    () => ErrorList.throwIfAny('delete attachment', [first, second]),
    (error) => error instanceof ErrorList && error.errors.length === 2,
  );
});

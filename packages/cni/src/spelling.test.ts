import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closest } from './spelling.ts';

test('the closest name is at most two edits away', () => {
  const names = ['isGateway', 'isDefaultGateway', 'ipMasq', 'mtu', 'vlan'];
  assert.equal(closest('isGatway', names), 'isGateway');
  assert.equal(closest('ISGATEWAY', names), 'isGateway');
  assert.equal(closest('ipMask', names), 'ipMasq');
  assert.equal(closest('mut', names), undefined, 'two edits are too many for a short word');
  assert.equal(closest('mtuu', names), 'mtu');
  assert.equal(closest('somethingElse', names), undefined);
  assert.equal(closest('x', []), undefined);
});

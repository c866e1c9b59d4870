import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinedGroups } from './await-solicitations.ts';

test('groups of one link, as /proc/net/igmp6 lists them', () => {
  const text = [
    '1       lo              ff020000000000000000000000000001     1 0000000C 0',
    '2       eth0            ff0200000000000000000001ff000064     1 00000004 0',
    '2       eth0            ff020000000000000000000000000001     1 0000000C 0',
    '21      eth1            ff0200000000000000000001ff000065     1 00000004 0',
    '',
  ].join('\n');
  assert.deepEqual(
    [...joinedGroups(text, 2)],
    ['ff0200000000000000000001ff000064', 'ff020000000000000000000000000001'],
  );
  assert.equal(joinedGroups(text, 3).size, 0);
});

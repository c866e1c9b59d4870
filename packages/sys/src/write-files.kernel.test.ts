import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNetns, readFileIn, SysError, writeFilesIn } from './index.ts';

const conf = (name: string) => `/proc/sys/net/ipv4/conf/lo/${name}`;

test('several files are written in one visit, and one that is refused does not keep the others back', () => {
  using netns = createNetns();
  const refusals = writeFilesIn(netns, [
    { path: conf('arp_notify'), text: '1' },
    { path: conf('no_such_setting'), text: '1' },
    { path: conf('arp_ignore'), text: 'nonsense' },
    { path: conf('arp_accept'), text: '1' },
  ]);
  assert.deepEqual(
    refusals.map((refusal) => refusal?.errno),
    [undefined, 'ENOENT', 'EINVAL', undefined],
  );
  assert.equal(readFileIn(netns, conf('arp_notify')), '1\n');
  assert.equal(readFileIn(netns, conf('arp_accept')), '1\n');
  assert.equal(refusals[1]?.path, conf('no_such_setting'));
});

test('what cannot be told apart is not written', () => {
  using netns = createNetns();
  assert.throws(
    () => writeFilesIn(netns, [{ path: `${conf('arp_notify')}\0`, text: '1' }]),
    (error) => SysError.is(error, 'EINVAL'),
  );
  assert.deepEqual(writeFilesIn(netns, []), []);
});

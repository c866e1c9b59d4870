import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasVxlanChecksumFault } from './vxlan-checksum.ts';

test('the kernels that translate VXLAN checksums wrongly are those before the correction', () => {
  for (const release of ['3.10.0-1160.el7', '4.14.180', '4.19.122-amd64', '5.3.0', '5.4.40', '5.6.12'])
    assert.ok(hasVxlanChecksumFault(release), release);
  for (const release of ['4.14.181', '4.19.123-amd64', '5.4.41', '5.6.13', '5.7.0', '5.10.1', '6.18.44-fc'])
    assert.ok(!hasVxlanChecksumFault(release), release);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseDns } from './dns.ts';

const fromIpam = { nameservers: ['192.0.2.53'] };

test("without dns in the configuration, IPAM's is taken", () => {
  assert.deepEqual(chooseDns(undefined, fromIpam), fromIpam);
  assert.deepEqual(chooseDns({}, fromIpam), fromIpam);
  assert.deepEqual(chooseDns({ domain: '' }, fromIpam), fromIpam);
});

test("any member of the configuration's dns discards IPAM's, an empty list as well", () => {
  assert.deepEqual(chooseDns({ domain: 'example.org' }, fromIpam), { domain: 'example.org' });
  assert.deepEqual(chooseDns({ search: ['a.example'] }, fromIpam), { search: ['a.example'] });
  assert.deepEqual(chooseDns({ options: [] }, fromIpam), { options: [] });
  assert.deepEqual(chooseDns({ nameservers: [], search: [], options: [] }, fromIpam), {
    nameservers: [],
    search: [],
    options: [],
  });
});

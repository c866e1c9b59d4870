import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ALIAS_MAX,
  aliasTag,
  COMMENT_MAX,
  hostLinkName,
  isAliasOf,
  ownerAlias,
  ownerComment,
  ownerTag,
  parseOwnerAlias,
  parseOwnerComment,
} from './index.ts';

const one = { network: 'unit-test', containerID: 'one', ifName: 'eth0' };
const three = { network: 'alternate', containerID: 'three', ifName: 'net1' };

test("comments are those of the reference's masquerade rules", () => {
  assert.equal(ownerComment(one), '6fd94d501e58f0aa-287fc69eff0574a2, net: unit-test, if: eth0, id: one');
  assert.equal(ownerComment(three), '82783ef24bdc7036-acb19d111858e348, net: alternate, if: net1, id: three');
});

test('a comment reads back, cut or whole, and foreign text does not', () => {
  assert.deepEqual(parseOwnerComment(ownerComment(one)), {
    tag: ownerTag(one),
    network: 'unit-test',
    ifName: 'eth0',
    containerID: 'one',
  });
  const long = ownerComment({ ...one, network: 'ü'.repeat(100) });
  assert.ok(Buffer.byteLength(long) <= COMMENT_MAX);
  assert.equal(long.includes('\ufffd'), false);
  assert.ok(parseOwnerComment(long));
  assert.equal(parseOwnerComment('allow ssh'), undefined);
});

test('a link name is stable, unlike for another owner or attempt, and fits the kernel', () => {
  assert.equal(hostLinkName(one), hostLinkName({ ...one }));
  const names = new Set([
    hostLinkName(one),
    hostLinkName(three),
    hostLinkName(one, 1),
    hostLinkName({ ...one, ifName: 'eth1' }),
  ]);
  assert.equal(names.size, 4);
  for (const name of names) assert.match(name, /^veth[0-9a-f]{8}$/);
});

test('an alias tells the owner and, where there is room, the pod', () => {
  const args = 'IgnoreUnknown=1;K8S_POD_NAMESPACE=ns1;K8S_POD_NAME=web;K8S_POD_UID=u1';
  assert.deepEqual(parseOwnerAlias(ownerAlias(one, args)), {
    ...one,
    podNamespace: 'ns1',
    podName: 'web',
    podUid: 'u1',
  });
  const crowded = ownerAlias({ ...one, containerID: 'a'.repeat(64) }, `K8S_POD_NAME=${'p'.repeat(253)}`);
  assert.ok(Buffer.byteLength(crowded) <= ALIAS_MAX);
  assert.equal(parseOwnerAlias(crowded)?.containerID, 'a'.repeat(64));
});

test('an owner whose names are too long for an alias is still known by its tag', () => {
  const huge = { ...one, network: 'n'.repeat(300) };
  const alias = ownerAlias(huge);
  assert.ok(Buffer.byteLength(alias) <= ALIAS_MAX);
  assert.equal(isAliasOf(huge, alias), true);
  assert.equal(isAliasOf(one, alias), false);
  assert.deepEqual(aliasTag(alias), ownerTag(huge));
});

test('an alias of any length names one owner', () => {
  for (let size = 1; size < 400; size++) {
    const own = { ...one, containerID: 'c'.repeat(size) };
    const alias = ownerAlias(own, 'K8S_POD_UID=u1;K8S_POD_NAME=web');
    assert.ok(Buffer.byteLength(alias) <= ALIAS_MAX);
    assert.deepEqual(aliasTag(alias), ownerTag(own));
    assert.equal(isAliasOf(own, alias), true);
    assert.equal(isAliasOf(one, alias), false);
  }
});

test("other people's aliases are nobody's of ours", () => {
  for (const alias of [undefined, '', 'eth7', 'heddle:', 'heddle:{}', 'heddle:[']) {
    assert.equal(parseOwnerAlias(alias), undefined);
    assert.equal(aliasTag(alias), undefined);
    assert.equal(isAliasOf(one, alias), false);
  }
});

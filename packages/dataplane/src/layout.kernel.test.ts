import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile, sameExpressions } from '@heddle/netlink';
import { TestNetns } from '@heddle/netlink/testing';
import { hasStructure, NAT, rules, structure } from './layout.ts';

test('the kernel has the rules as they were written, in order', async () => {
  using node = new TestNetns();
  const { nft } = node.session;
  assert.equal(await hasStructure(node.session), false);
  await nft.commit(structure());
  assert.equal(await hasStructure(node.session), true);
  for (const chain of new Set(rules().map((rule) => rule.chain))) {
    const listed = await nft.rules({ ...NAT, chain });
    const written = rules().filter((rule) => rule.chain === chain);
    assert.equal(listed.length, written.length);
    for (const [at, rule] of written.entries()) {
      assert.ok(
        sameExpressions(listed[at]?.expressions ?? [], compile(rule.expressions, NAT.family)),
        `${chain} ${at}`,
      );
    }
  }
});

test('building twice changes nothing', async () => {
  using node = new TestNetns();
  await node.session.nft.commit(structure());
  const once = node.ruleset;
  await node.session.nft.commit(structure());
  assert.equal(node.ruleset, once);
});

test('nft reads its own listing of it', async () => {
  using node = new TestNetns();
  await node.session.nft.commit(structure());
  const listing = node.ruleset;
  node.run('nft flush ruleset');
  node.run('nft', listing);
  assert.equal(node.ruleset, listing);
});

/** Tables of iptables-nft, changed over netlink and looked at by iptables itself. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TestNetns } from '@heddle/netlink/testing';
import { splitWords } from '../iptables/rule-text.ts';
import type { TableView } from '../iptables/table.ts';
import { changeNftTables } from '../iptables/tables.ts';
import { readNftTable } from './table.ts';
import vectors from './vectors/rules.json' with { type: 'json' };

const filter = {
  family: 4,
  table: 'filter',
  chains: ['FORWARD', 'PREROUTING', 'POSTROUTING', 'A', 'B', 'CNI-FORWARD'],
} as const;

async function apply(netns: TestNetns, lines: readonly string[], which: TableView = filter) {
  return changeNftTables(netns.session, [{ ...which, plan: () => lines }]);
}

function saved(netns: TestNetns, program: string): string {
  return netns
    .run(program)
    .replace(/^#.*\n/gm, '')
    .replace(/\[\d+:\d+\]/g, '[0:0]');
}

describe('a rule that is written over netlink', () => {
  for (const { command, saved: line } of vectors) {
    test(`is shown by iptables-save and deleted by iptables -D: ${command}`, async () => {
      using netns = new TestNetns();
      const [program = '', , table = ''] = command.split(' ');
      const which = { ...filter, family: program === 'iptables' ? 4 : 6, table } as typeof filter;
      const chains = line.includes('CNI-FORWARD') ? ['-N CNI-FORWARD'] : [];
      assert.deepEqual(await apply(netns, [...chains, line], which), []);
      assert.ok(saved(netns, `${program}-save`).includes(`\n${line}\n`));
      netns.run(program, '-t', table, '-C', ...splitWords(line).slice(1));
      netns.run(program, '-t', table, '-D', ...splitWords(line).slice(1));
      assert.ok(!saved(netns, `${program}-save`).includes(`\n${line}\n`));
    });
  }
});

describe('a table', () => {
  test('begins as the one of iptables does', async () => {
    using ours = new TestNetns();
    using theirs = new TestNetns();
    const rule = ['-s', '10.1.2.5/32', '-j', 'ACCEPT'];
    await apply(ours, ['-N CNI-FORWARD', `-A FORWARD ${rule.join(' ')}`]);
    theirs.run('iptables', '-N', 'CNI-FORWARD');
    theirs.run('iptables', '-A', 'FORWARD', ...rule);
    assert.equal(saved(ours, 'iptables-save'), saved(theirs, 'iptables-save'));
    const chains = (netns: TestNetns) =>
      netns.run('nft', 'list', 'ruleset').match(/^\tchain FORWARD \{\n.*$/m)?.[0];
    assert.equal(chains(ours), chains(theirs));
  });

  test('keeps its policy and the rules of others', async () => {
    using netns = new TestNetns();
    netns.run('iptables', '-P', 'FORWARD', 'DROP');
    netns.run('iptables', '-A', 'FORWARD', '-m', 'limit', '--limit', '7/sec', '-j', 'ACCEPT');
    await apply(netns, ['-I FORWARD 1 -i br0 -j DROP', '-A FORWARD -i br1 -j DROP']);
    assert.deepEqual(saved(netns, 'iptables-save').match(/^(-A|:FORWARD) .*$/gm), [
      ':FORWARD DROP [0:0]',
      '-A FORWARD -i br0 -j DROP',
      '-A FORWARD -m limit --limit 7/sec -j ACCEPT',
      '-A FORWARD -i br1 -j DROP',
    ]);
  });

  test('takes rules at a place, deletes and flushes, in one transaction', async () => {
    using netns = new TestNetns();
    await apply(netns, [':A - [0:0]', '-A A -i a -j DROP', '-A A -i b -j DROP', '-N B', '-A A -j B']);
    await apply(netns, ['-D A -i b -j DROP', '-I A 2 -i c -j DROP', '-A B -j RETURN', '-F B']);
    assert.deepEqual(saved(netns, 'iptables-save').match(/^-A .*$/gm), [
      '-A A -i a -j DROP',
      '-A A -i c -j DROP',
      '-A A -j B',
    ]);
    await apply(netns, ['-D A -j B', '-X B', ':A - [0:0]']);
    assert.deepEqual(saved(netns, 'iptables-save').match(/^(-A|:[AB]) .*$/gm), [':A - [0:0]']);
  });

  test('is left as it is when one of its rules is for iptables alone', async () => {
    using netns = new TestNetns();
    const others = await apply(netns, ['-N A', '-A A -m owner --uid-owner 0 -j DROP']);
    assert.equal(others.length, 1);
    assert.equal(netns.run('nft', 'list', 'ruleset'), '');
  });

  test('shows rules that have no words by their handle and where they lead', async () => {
    using netns = new TestNetns();
    netns.run('iptables', '-N', 'A');
    netns.run('iptables', '-A', 'A', '-m', 'limit', '--limit', '7/sec', '-j', 'DROP');
    netns.run('iptables', '-A', 'FORWARD', '-m', 'limit', '--limit', '7/sec', '-j', 'A');
    const { rules } = await readNftTable(netns.session, filter);
    const jump = rules.find(({ chain }) => chain === 'FORWARD');
    assert.deepEqual(jump?.words.slice(-2), ['-j', 'A']);
    await apply(netns, [`-D FORWARD ${jump?.text}`]);
    assert.deepEqual(saved(netns, 'iptables-save').match(/^-A .*$/gm), [
      '-A A -m limit --limit 7/sec -j DROP',
    ]);
  });

  test('that someone changes between reading and writing is planned again', async () => {
    using netns = new TestNetns();
    let plans = 0;
    await changeNftTables(netns.session, [
      {
        ...filter,
        plan: ({ rules }) => {
          if (plans++ === 0) netns.run('iptables', '-A', 'FORWARD', '-j', 'DROP');
          return rules.length === 0 ? ['-A FORWARD -j DROP'] : [];
        },
      },
    ]);
    assert.equal(plans, 2);
    assert.equal(saved(netns, 'iptables-save').match(/^-A /gm)?.length, 1);
  });
});

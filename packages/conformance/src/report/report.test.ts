import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunReport } from '../run.ts';
import { jsonReport } from './json.ts';
import { junitReport } from './junit.ts';
import { markdownReport } from './markdown.ts';
import { summaryLine } from './summary.ts';
import { tableReport } from './table.ts';

const RUN: RunReport = {
  program: '/opt/cni/bin/odd',
  plugin: { type: 'odd', kind: 'interface', versions: ['1.0.0', '1.1.0'] },
  milliseconds: 1234,
  outcomes: [
    { id: 'contract/a', suite: 'contract', title: 'it answers', status: 'passed', milliseconds: 5 },
    {
      ...{ id: 'contract/b', suite: 'contract', title: 'it is <silent>', status: 'failed', milliseconds: 7 },
      failure: {
        expected: 'nothing',
        got: 'a "word"\nand another\u0001',
        why: 'It matters.',
        cites: 'Section 2: “words”',
        call: {
          program: '/opt/cni/bin/odd',
          env: { CNI_COMMAND: 'DEL', CNI_ARGS: "a='b c'" },
          stdin: '{"name":"n"}',
          ...{ exitCode: 0, signal: null, stdout: 'word', stderr: '', timedOut: false },
        },
      },
    },
    { id: 'gc/c', suite: 'gc', title: 'c', status: 'unclaimed', reason: 'to come', milliseconds: 0 },
    { id: 'gc/d', suite: 'gc', title: 'd', status: 'skipped', reason: 'other kind', milliseconds: 0 },
  ],
};
const INVOCATION = { program: './odd', configFile: 'my config.json' };
const AGAIN = "heddle conformance ./odd --config 'my config.json' --check contract/b";

test('one line says it all', () => {
  assert.equal(summaryLine(RUN), '1 of 2 checks passed, 1 failed, 1 not claimed, 1 do not apply');
});

test('the table shows suites, then all about each failure', () => {
  const text = tableReport(RUN, INVOCATION, false);
  assert.match(
    text,
    /^odd: interface plugin, speaks 1\.0\.0, 1\.1\.0\n {2}contract {5}1 of 2\n {2}gc {11}does not apply\n/,
  );
  for (const part of [
    '✘ contract/b: it is <silent>',
    "call            CNI_COMMAND=DEL CNI_ARGS='a='\\''b c'\\''' /opt/cni/bin/odd",
    'stdin           {"name":"n"}',
    'ended with      exit code 0',
    'why it matters  It matters.',
    AGAIN,
  ]) {
    assert.ok(text.includes(part), `${part}\n\n${text}`);
  }
});

test('JSON has every check, and what makes a failure happen again', () => {
  const json = JSON.parse(JSON.stringify(jsonReport(RUN, INVOCATION)));
  assert.deepEqual([json.passed, json.failed, json.skipped, json.unclaimed], [1, 1, 1, 1]);
  assert.equal(json.checks.length, 4);
  assert.equal(json.checks[1].failure.reproduce, AGAIN);
  assert.equal(json.checks[1].failure.call.stdout, 'word');
  assert.equal(json.checks[2].reason, 'to come');
  const again = (crashPoints: number) =>
    JSON.parse(JSON.stringify(jsonReport(RUN, { ...INVOCATION, crashPoints }))).checks[1].failure.reproduce;
  assert.equal(again(3), `${AGAIN.replace('--check', '--crash 3 --check')}`);
  assert.equal(again(Number.POSITIVE_INFINITY), `${AGAIN.replace('--check', '--crash all --check')}`);
});

test('JUnit is XML, whatever a plugin has printed', () => {
  const xml = junitReport(RUN, INVOCATION);
  assert.match(xml, /<testsuites name="CNI conformance of odd" tests="4" failures="1" time="1\.234">/);
  assert.match(xml, /<testsuite name="odd gc" tests="2" failures="0" errors="0" skipped="2" time="0\.000">/);
  assert.match(xml, /name="contract\/b: it is &lt;silent&gt;"/);
  assert.match(xml, /got a &quot;word&quot;&#10;and another\?"/);
  assert.match(xml, /<skipped message="not claimed: to come"\/>/);
});

test('Markdown has a section for each failure', () => {
  const page = markdownReport(RUN, INVOCATION);
  assert.match(page, /^## odd\n\n1 of 2 checks passed/);
  assert.match(page, /\| contract \| 1 \| 1 \|/);
  assert.match(page, /### contract\/b\n\nIt is <silent>\./);
  assert.match(page, /- `gc\/c` is not claimed: to come/);
  assert.ok(page.includes(`\`\`\`sh\n${AGAIN}\n\`\`\``));
});

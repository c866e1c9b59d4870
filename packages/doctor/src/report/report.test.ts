/** Reports in each of their forms. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exitCodeFor } from '../exit-code.ts';
import type { Finding } from '../finding.ts';
import { type Rule, ruleRegistry } from '../rule.ts';
import { parseSilences, silence } from '../silence.ts';
import { renderGithub } from './github.ts';
import { renderJson } from './json.ts';
import { inOrder, type Report } from './report.ts';
import { renderSarif } from './sarif.ts';
import { renderText } from './text.ts';

const rule = (id: string, severity: Rule['severity']): Rule => ({
  ...{ id, severity, title: `the title of ${id}`, command: 'audit', explains: `about ${id}` },
});
const RULES = ruleRegistry([rule('a/likely', 'error'), rule('a/unlikely', 'error'), rule('b/mild', 'note')]);

const unlikely: Finding = {
  ...{ id: 'a/unlikely', severity: 'error', what: 'the comma is wrong', consequence: 'nothing starts' },
  ...{ remedy: 'remove the comma', evidence: ['seen by Go 1.24'] },
  place: { file: '/etc/cni/net.d/10 a.conf', line: 3, column: 5, excerpt: '    ,' },
  fix: {
    ...{ what: 'remove the comma' },
    edits: [{ file: '/etc/cni/net.d/10 a.conf', offset: 40, length: 1, text: '' }],
  },
};
const likely: Finding = {
  ...{ id: 'a/likely', severity: 'error', subject: 'network pods', what: '100% full,\nagain' },
  ...{ consequence: 'no address is left', remedy: 'make the range larger' },
};
const mild: Finding = { ...likely, id: 'b/mild', severity: 'note', what: 'mild' };

function report(findings: readonly Finding[]): Report {
  return { findings: inOrder(findings, RULES), silenced: [], checked: '3 files' };
}

describe('a report', () => {
  test('has the likeliest cause first, whatever the order in which things were found', () => {
    for (const findings of [
      [mild, unlikely, likely],
      [unlikely, likely, mild],
    ]) {
      assert.deepEqual(
        report(findings).findings.map(({ id }) => id),
        ['a/likely', 'a/unlikely', 'b/mild'],
      );
    }
  });

  test('as text shows the place, what follows and what to do, and no colours unless a terminal shows them', () => {
    const text = renderText(report([unlikely, likely]));
    assert.equal(
      text,
      `network pods
  error 100% full,\\x0aagain [a/likely]
    no address is left
    to mend: make the range larger

/etc/cni/net.d/10 a.conf
  error 3:5 the comma is wrong [a/unlikely]
      ,
      ^
    nothing starts
    to mend: remove the comma
    - seen by Go 1.24

2 errors (3 files), 1 can be mended with --fix
`,
    );
    assert.ok(renderText(report([unlikely]), { styled: true }).includes('\u001b[31merror\u001b[0m'));
    assert.equal(renderText(report([])), 'nothing found (3 files)\n');
  });

  test('as text marks the column of a line that is too long to show', () => {
    const excerpt = `${'x'.repeat(300)}HERE${'y'.repeat(300)}`;
    const place = { file: 'f', line: 1, column: 301, excerpt };
    const lines = renderText(report([{ ...unlikely, place }]), { width: 60 }).split('\n');
    const shown = lines.findIndex((line) => line.includes('HERE'));
    assert.equal(lines[shown]?.indexOf('HERE'), lines[shown + 1]?.indexOf('^'));
    assert.ok(lines.every((line) => line.length <= 60));
  });

  test('has the commands of a remedy as whole lines, in every form, and as text the first of many', () => {
    const commands = Array.from(
      { length: 12 },
      (_, index) => `ip link set veth${index} up${' '.repeat(80)}#`,
    );
    const down = report([{ ...likely, commands }]);
    const typed = renderText(down, { width: 60 })
      .split('\n')
      .flatMap((line) => /^ {6}\$ (.*)$/.exec(line)?.[1] ?? []);
    assert.deepEqual(typed, commands.slice(0, 10));
    assert.match(renderText(down), /^ {6}… and 2 more; `--format json` has all$/m);
    assert.ok(renderGithub(down).includes(`range larger%0A${commands[0]}%0A${commands[1]}`));
    const [{ results }] = JSON.parse(renderSarif(down, { rules: RULES, version: '1.2.3' })).runs;
    assert.ok(results[0].message.text.includes(`range larger\n${commands.join('\n')}`));
  });

  test('as JSON is what was found', () => {
    assert.deepEqual(JSON.parse(renderJson(report([mild]))), {
      ...{ findings: [mild], silenced: [], checked: '3 files' },
    });
  });

  test('as annotations of GitHub escapes what would end a line or a property', () => {
    const [first, second] = renderGithub(report([unlikely, likely])).split('\n');
    assert.equal(
      first,
      '::error title=a/likely::network pods: 100%25 full,%0Aagain%0Ano address is left%0ATo mend: make the range larger',
    );
    assert.match(
      second ?? '',
      /^::error file=\/etc\/cni\/net\.d\/10 a\.conf,line=3,col=5,title=a\/unlikely::/,
    );
    assert.match(renderGithub(report([mild])), /^::notice /);
  });

  test('as SARIF has rules, regions, fixes and suppressions', () => {
    const silenced = [{ finding: likely, reason: 'a lab' }];
    const log = JSON.parse(
      renderSarif({ ...report([unlikely]), silenced }, { rules: RULES, version: '1.2.3' }),
    );
    assert.equal(log.version, '2.1.0');
    const [{ tool, results }] = log.runs;
    assert.deepEqual(
      tool.driver.rules.map(({ id }: Rule) => id),
      ['a/likely', 'a/unlikely'],
    );
    const [told, suppressed] = results;
    assert.equal(told.ruleIndex, 1);
    const { artifactLocation, region } = told.locations[0].physicalLocation;
    assert.equal(artifactLocation.uri, 'file:///etc/cni/net.d/10%20a.conf');
    assert.deepEqual([region.startLine, region.startColumn], [3, 5]);
    const [change] = told.fixes[0].artifactChanges;
    assert.deepEqual(change.replacements, [{ deletedRegion: { charOffset: 40, charLength: 1 } }]);
    assert.deepEqual(suppressed.suppressions, [{ kind: 'external', justification: 'a lab' }]);
  });
});

test('the exit code follows the worst that was found, from the severity on that counts', () => {
  assert.deepEqual(
    [[], [mild], [mild, { ...mild, severity: 'warning' as const }], [mild, likely]].map((findings) =>
      exitCodeFor(findings),
    ),
    [0, 0, 4, 5],
  );
  assert.equal(exitCodeFor([{ ...mild, severity: 'warning' }], 'error'), 0);
  assert.equal(exitCodeFor([mild], 'note'), 4);
});

describe('a silencing file', () => {
  test('takes findings out of what is told, everywhere or where it says', () => {
    const text = `{ // why not
      "silence": [{ "id": "a/unlikely", "reason": "known", "where": "10 a.conf" }, { "id": "b/mild", "reason": "lab" },],
    }`;
    const silences = parseSilences(text, 's.jsonc', RULES);
    const elsewhere = { ...unlikely, place: { file: 'b.conf' } };
    const { told, silenced } = silence([unlikely, elsewhere, likely, mild], silences);
    assert.deepEqual(told, [elsewhere, likely]);
    assert.deepEqual(
      silenced.map(({ finding, reason }) => [finding.id, reason]),
      [
        ['a/unlikely', 'known'],
        ['b/mild', 'lab'],
      ],
    );
  });

  const refused: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    ['no reason', '{"silence":[{"id":"b/mild"}]}', /^s\.jsonc:1:13: b\/mild is silenced without a reason/],
    ['a blank reason', '{"silence":[{"id":"b/mild","reason":" "}]}', /s\.jsonc:1:37: .* without a reason/],
    [
      'an unknown id',
      '{"silence":[{"id":"b/mld","reason":"x"}]}',
      /s\.jsonc:1:19: there is no rule "b\/mld"/,
    ],
    ['no list', '{}', /expected an object with the list "silence"/],
    ['a syntax error', '{"silence":[}', /^s\.jsonc:1:13: not valid JSON/],
    ['an unknown member', '{"silence":[{"id":"b/mild","reason":"x","file":"y"}]}', /unknown member "file"/],
  ];
  for (const [what, text, message] of refused) {
    test(`with ${what} is refused with the place`, () => {
      assert.throws(() => parseSilences(text, 's.jsonc', RULES), { message });
    });
  }
});

test('an id is of one form and belongs to one rule', () => {
  assert.throws(() => ruleRegistry([rule('no-family', 'note')]), /no-family is no rule id/);
  assert.throws(
    () => ruleRegistry([rule('a/b', 'note'), rule('a/b', 'error')]),
    /two rules have the id a\/b/,
  );
});

/** The pages of `docs/conformance` and what is behind the failures on them agree; nothing is run for it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CHECKS, RUNTIME_CHECKS } from '@heddle/conformance';
import { disagreements, EXPLANATIONS, type Explanation, explanationOf } from './explanations.ts';
import { indexPage } from './pages.ts';
import { DIRECTORY, PAGES, parsePage, readPage } from './read-page.ts';
import { RELEASES } from './releases.ts';

const pages = PAGES.map(readPage);

test('each failure of a page has its explanation there, and nothing is explained that does not fail', () => {
  assert.deepEqual(disagreements(pages, EXPLANATIONS), []);
});

test('explanations are about checks that there are', () => {
  const known = new Set<string>([...CHECKS, ...RUNTIME_CHECKS].map(({ id }) => id));
  const named = EXPLANATIONS.flatMap(({ checks }) => checks);
  assert.deepEqual(
    named.filter((id) => !known.has(id)),
    [],
  );
});

test('each plugin of a release is on its page, with as many failures as its line says', () => {
  for (const { name, plugins } of RELEASES) {
    const there = pages.find((page) => page.name === name)?.subjects.map(({ subject }) => subject) ?? [];
    assert.deepEqual(there, plugins, name);
  }
  for (const { subjects, failures, name } of pages) {
    for (const { subject, failed } of subjects) {
      const told = failures.filter((each) => each.subject === subject);
      assert.equal(told.length, failed, `${name}.md: ${subject}`);
    }
  }
});

test('the index is made of the pages', () => {
  assert.equal(readFileSync(join(DIRECTORY, 'README.md'), 'utf8'), indexPage(pages));
});

const PAGE = `# Conformance of something

| plugin | passed | failed | does not apply |
| --- | --- | --- | --- |
| [bridge](#bridge) | 10 | 1 | 2 |
| [ptp](#ptp) | 11 | 0 | 2 |

## bridge

### bridge: gc/twice

It fails for a reason.
`;
const REASON: Explanation = { subjects: ['bridge'], checks: ['gc/twice'], text: 'It fails for a reason.' };

test('a failure without an explanation, with two, or with another one is found', () => {
  const page = parsePage('debian', PAGE);
  assert.deepEqual(page.subjects, [
    {
      ...{ subject: 'bridge', passed: 10, failed: 1, other: 2 },
      section: '## bridge\n\n### bridge: gc/twice\n\nIt fails for a reason.',
    },
    { subject: 'ptp', passed: 11, failed: 0, other: 2, section: '' },
  ]);
  assert.deepEqual(disagreements([page], [REASON]), []);
  assert.deepEqual(disagreements([page], []), ['debian.md: bridge fails gc/twice, and nothing explains it']);
  assert.deepEqual(disagreements([page], [{ ...REASON, pages: ['reference'] }]), [
    'debian.md: bridge fails gc/twice, and nothing explains it',
    'no page has bridge, which is explained: It fails for a reason.',
  ]);
  assert.deepEqual(disagreements([page], [REASON, REASON]), [
    'debian.md: bridge fails gc/twice, and 2 explanations are about it',
  ]);
  assert.deepEqual(disagreements([page], [{ ...REASON, text: 'Another one.' }]), [
    'debian.md: bridge fails gc/twice, and the page does not have its explanation',
  ]);
});

test('an explanation of what does not fail is found, unless chance decides', () => {
  const page = parsePage('debian', PAGE);
  const needless: Explanation = { ...REASON, subjects: ['ptp'] };
  assert.deepEqual(disagreements([page], [REASON, needless]), [
    'debian.md: ptp does not fail gc/twice, which is explained',
  ]);
  assert.deepEqual(disagreements([page], [{ ...REASON, subjects: 'all' }]), [
    'debian.md: ptp does not fail gc/twice, which is explained',
  ]);
  assert.deepEqual(disagreements([page], [{ ...REASON, subjects: 'all', except: ['ptp'] }]), []);
  assert.deepEqual(disagreements([page], [REASON, { ...needless, isByChance: true }]), []);
  assert.deepEqual(disagreements([page], [REASON, { ...needless, subjects: ['pdp'] }]), [
    'no page has pdp, which is explained: It fails for a reason.',
  ]);
});

test('the generator does not go on past a failure that nobody has looked at', () => {
  assert.throws(
    () => explanationOf({ page: 'debian', subject: 'bridge', check: 'contract/no-such' }),
    /debian: bridge fails contract\/no-such: look at it/,
  );
});

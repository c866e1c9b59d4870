/** Each rule finds the fault that is staged for it, where it is, and nothing in what only looks alike. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Finding } from '../finding.ts';
import { AUDIT_RULES } from './rules.ts';
import { ADDRESS_CASES } from './testing/address-cases.ts';
import { CHAIN_CASES } from './testing/chain-cases.ts';
import { CONTRACT_CASES } from './testing/contract-cases.ts';
import { findingsIn } from './testing/scene.ts';
import { SYNTAX_CASES } from './testing/syntax-cases.ts';

const CASES = [...SYNTAX_CASES, ...CONTRACT_CASES, ...CHAIN_CASES, ...ADDRESS_CASES];

function placeOf({ place }: Finding): string {
  return [place?.file, place?.line, place?.column].filter((part) => part !== undefined).join(':');
}

function shown(findings: readonly Finding[]): readonly string[] {
  return findings.map((finding) => `${placeOf(finding)} ${finding.severity} ${finding.id}: ${finding.what}`);
}

describe('the rule', () => {
  for (const { rule, bad, good, at } of CASES) {
    test(`${rule} finds what it is for`, () => {
      const findings = findingsIn(bad);
      const own = findings.filter(({ id }) => id === rule);
      assert.ok(own.length > 0, shown(findings).join('\n'));
      assert.ok(placeOf(own[0] as Finding).includes(at), shown(own).join('\n'));
    });

    test(`${rule} lets be what only looks alike`, () => {
      const findings = findingsIn(good);
      assert.deepEqual(shown(findings.filter(({ id, severity }) => id === rule || severity === 'error')), []);
    });
  }
});

test('every rule has a fault staged for it', () => {
  const staged = new Set(CASES.map(({ rule }) => rule));
  assert.deepEqual(
    AUDIT_RULES.filter(({ id }) => !staged.has(id)).map(({ id }) => id),
    [],
  );
});

test('every finding is a whole: what, what follows, how to mend it', () => {
  for (const finding of CASES.flatMap(({ bad }) => findingsIn(bad))) {
    const { id, what, consequence, remedy } = finding;
    assert.doesNotMatch([what, consequence, remedy].join(' '), /undefined|NaN|\[object/, id);
    assert.doesNotMatch(what, /\.$/, id);
    assert.match(consequence, /[.")]$/, id);
    assert.match(remedy, /[.?…]$/, id);
  }
});

test('rules that say that they can fix do, and no others', () => {
  const fixing = new Set(
    CASES.flatMap(({ bad }) => findingsIn(bad)).flatMap(({ id, fix }) => (fix === undefined ? [] : [id])),
  );
  assert.deepEqual(
    [...fixing].sort(),
    AUDIT_RULES.filter(({ fixable }) => fixable === true)
      .map(({ id }) => id)
      .sort(),
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '@heddle/cni';
import { parseScenario } from './scenario.ts';

test('a scenario is read with its defaults', () => {
  const { lab, steps } = parseScenario(
    '{ "lab": { "nodes": { "n1": { "segment": "a" } } }, "steps": [{ "do": "matrix" }, { "do": "cut", "node": "n1" }] }',
    'x.json',
  );
  assert.equal(lab.segments['a']?.mtu, 1500);
  assert.deepEqual(steps, [
    { do: 'matrix', hosts: false, open: 'all', seconds: 30 },
    { do: 'cut', node: 'n1' },
  ]);
});

const REFUSED: readonly (readonly [lines: readonly string[], message: RegExp])[] = [
  [
    ['{', '  "lab": { "nodes": {} },', '  "steps": []', '}'],
    /x\.json:2:10: scenario: a lab has at least one node/,
  ],
  [
    ['{ "lab": { "nodes": { "n1": { "segment": "a" } } },', '  "steps": [', '    { "do": "dance" }', '  ] }'],
    /x\.json:3:13: scenario: .*do/,
  ],
  [
    ['{ "lab": { "nodes": { "n1": { "segment": "a" } } },', '  "steps": [', '    { "do": "cut" }', '  ] }'],
    /x\.json:3:5: scenario: .*node/,
  ],
  [
    [
      '{ "lab": { "nodes": { "n1": { "segment": "a" } } }, "steps": [',
      '{ "do": "run", "on": "n1", "command": ["ls"], "prints": "(" }] }',
    ],
    /x\.json:2:57: scenario: .*expected a regular expression/,
  ],
];

for (const [lines, message] of REFUSED) {
  test(`refused, with its place: ${message.source}`, () => {
    assert.throws(
      () => parseScenario(lines.join('\n'), 'x.json'),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, message);
        return true;
      },
    );
  });
}

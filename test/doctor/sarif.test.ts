/** What audits print as SARIF is SARIF 2.1.0, as far as the parts that are used go. */
import assert from 'node:assert/strict';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { audit, inOrder, nodeFiles, RULES, renderSarif } from '@heddle/doctor';
import { Ajv } from 'ajv';

const text = {
  type: 'object',
  required: ['text'],
  additionalProperties: false,
  properties: { text: { type: 'string' } },
};
const location = {
  type: 'object',
  required: ['uri'],
  additionalProperties: false,
  properties: { uri: { type: 'string', format: 'uri-reference' } },
};
const region = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...{ startLine: { type: 'integer', minimum: 1 }, startColumn: { type: 'integer', minimum: 1 } },
    ...{ charOffset: { type: 'integer', minimum: 0 }, charLength: { type: 'integer', minimum: 0 } },
    snippet: text,
  },
};
const level = { enum: ['none', 'note', 'warning', 'error'] };
const rule = {
  type: 'object',
  required: ['id'],
  additionalProperties: false,
  properties: {
    ...{ id: { type: 'string' }, name: { type: 'string' }, shortDescription: text, fullDescription: text },
    defaultConfiguration: { type: 'object', additionalProperties: false, properties: { level } },
  },
};
const change = {
  type: 'object',
  required: ['artifactLocation', 'replacements'],
  additionalProperties: false,
  properties: {
    artifactLocation: location,
    replacements: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['deletedRegion'],
        additionalProperties: false,
        properties: { deletedRegion: region, insertedContent: text },
      },
    },
  },
};
const result = {
  type: 'object',
  required: ['message'],
  additionalProperties: false,
  properties: {
    ...{ ruleId: { type: 'string' }, ruleIndex: { type: 'integer', minimum: -1 }, level, message: text },
    locations: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          physicalLocation: {
            type: 'object',
            required: ['artifactLocation'],
            additionalProperties: false,
            properties: { artifactLocation: location, region },
          },
          logicalLocations: {
            type: 'array',
            uniqueItems: true,
            items: {
              type: 'object',
              additionalProperties: false,
              properties: { fullyQualifiedName: { type: 'string' } },
            },
          },
        },
      },
    },
    fixes: {
      type: 'array',
      uniqueItems: true,
      items: {
        type: 'object',
        required: ['artifactChanges'],
        additionalProperties: false,
        properties: {
          description: text,
          artifactChanges: { type: 'array', minItems: 1, uniqueItems: true, items: change },
        },
      },
    },
    suppressions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['kind'],
        additionalProperties: false,
        properties: { kind: { enum: ['inSource', 'external'] }, justification: { type: 'string' } },
      },
    },
  },
};
/** From the schema of OASIS: the objects that are used, closed, with what each requires. */
const SARIF = {
  type: 'object',
  required: ['version', 'runs'],
  additionalProperties: false,
  properties: {
    ...{ $schema: { type: 'string' }, version: { const: '2.1.0' } },
    runs: {
      type: 'array',
      items: {
        type: 'object',
        required: ['tool'],
        additionalProperties: false,
        properties: {
          tool: {
            type: 'object',
            required: ['driver'],
            additionalProperties: false,
            properties: {
              driver: {
                type: 'object',
                required: ['name'],
                additionalProperties: false,
                properties: {
                  ...{ name: { type: 'string' }, semanticVersion: { type: 'string' } },
                  rules: { type: 'array', uniqueItems: true, items: rule },
                },
              },
            },
          },
          ...{
            columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
            results: { type: 'array', items: result },
          },
        },
      },
    },
  },
};

test('an audit of everything that plugins refuse is a SARIF log', () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle sarif-'));
  try {
    writeFileSync(
      join(directory, 'ä b.conflist'),
      '\ufeff{"cniVersion":"1.0","name":"x","plugins":[{"type":"bridge",}]}',
    );
    writeFileSync(
      join(directory, 'c.conf'),
      '{"cniVersion":"1.0.0","name":"x","plugins":[{"type":"bridge"}]}',
    );
    const paths = [directory, ...globSync('packages/plugins/schemas/examples/invalid/*.conflist')];
    const findings = inOrder(audit({ paths, files: nodeFiles }).findings, RULES);
    const [first, ...others] = findings;
    assert.ok(first !== undefined && others.length > 40);
    const report = { findings: others, silenced: [{ finding: first, reason: 'a test' }], checked: '' };
    const log = JSON.parse(renderSarif(report, { rules: RULES, version: '1.2.3' }));
    const validate = new Ajv({ strict: false, formats: { 'uri-reference': /^[!-~]*$/ } }).compile(SARIF);
    const isValid: boolean = validate(log);
    assert.ok(isValid, JSON.stringify(validate.errors?.slice(0, 5), null, 2));
    const [{ results, tool }] = log.runs;
    assert.equal(results.length, findings.length);
    for (const { ruleId, ruleIndex } of results) assert.equal(tool.driver.rules[ruleIndex].id, ruleId);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

/** Valid configurations, as the documentation of many plugins and the defaults of runtimes have them, give no alarm. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { audit } from './audit.ts';
import { Document } from './model/document.ts';
import { nodeFiles } from './node-files.ts';

const CORPUS = fileURLToPath(new URL('../../corpus/', import.meta.url));
const EXAMPLES = fileURLToPath(new URL('../../../plugins/schemas/examples/', import.meta.url));
const files = [
  ...globSync(`${CORPUS}*/*.{conf,conflist}`),
  ...globSync(`${EXAMPLES}valid/*.conflist`),
].sort();

/** What is worth a warning in an example, and why it is right to say so. */
const WARNED: Readonly<Record<string, readonly string[]>> = {
  // The example of the specification has a member of its own for a plugin that reads no such thing.
  'spec-1.1.conflist': ['schema/unknown-member'],
  // Its route asks for an MTU that many programs do not get along with.
  'chained.conflist': ['mtu/too-small'],
  // A collection of every device, not a chain that anybody would run.
  'devices.conflist': ['chain/second-interface'],
  'ptp.conflist': ['address/no-default-route', 'reserved/runtime-config'],
  'somebody-elses.conflist': ['schema/unknown-member'],
};

describe('a valid configuration', () => {
  test('is of at least ten vendors, and of the defaults of runtimes', () => {
    const vendors = new Set(files.map((file) => basename(dirname(file))));
    assert.ok(vendors.size >= 20, [...vendors].join(' '));
  });

  for (const file of files) {
    test(`raises no alarm: ${relative(CORPUS, file)}`, () => {
      const { findings } = audit({ paths: [file], files: nodeFiles });
      const expected = WARNED[basename(file)] ?? [];
      assert.deepEqual(
        findings
          .filter(({ severity }) => severity !== 'note')
          .map(({ severity, id, what }) => `${severity} ${id}: ${what}`)
          .filter((line) => !expected.some((id) => line.split(' ')[1]?.startsWith(id))),
        [],
      );
    });
  }
});

describe('a configuration that a plugin refuses', () => {
  for (const file of globSync(`${EXAMPLES}invalid/*.conflist`).sort()) {
    test(`is an error at its place: ${basename(file)}`, () => {
      const document = new Document(file, readFileSync(file, 'utf8'));
      const path = String(document.object?.['wrong'] ?? '')
        .split('/')
        .slice(1)
        .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
      const { findings } = audit({ paths: [file], files: nodeFiles });
      const errors = findings.filter(({ severity }) => severity === 'error');
      const lines = [document.place(path).line, document.keyPlace(path).line];
      assert.ok(
        errors.some(({ place }) => lines.includes(place?.line)),
        `${path.join('/')}: ${findings.map(({ id, what, place }) => `${place?.line} ${id}: ${what}`).join('\n')}`,
      );
    });
  }
});

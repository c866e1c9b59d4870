/**
 * Writes what is made of the code: the pages on plugins, commands, rules and conformance checks, the JSON Schemas of
 * configurations, and what the agent's client answers by itself. A test fails when a file is not current.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { commandReference } from '@heddle/cli';
import { AUDIT_RULES, DOCTOR_RULES, LOCK_RULES, LOG_RULES } from '@heddle/doctor';
import { PLUGINS } from '@heddle/plugins';
import { auditPage } from './generate/audit-page.ts';
import { conformancePage } from './generate/conformance-page.ts';
import { doctorPage } from './generate/doctor-page.ts';
import { jsonSchemas } from './generate/json-schemas.ts';
import { lockPage } from './generate/lock-page.ts';
import { pluginsPage } from './generate/plugins-page.ts';
import { shimTable } from './generate/shim-table.ts';

/** Where the schemas are. */
export const SCHEMAS = 'packages/plugins/schemas';

/** The text of each generated file, by its path from the repository's root. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const plugins = [...PLUGINS.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
  const schemas = [...jsonSchemas(plugins)].map(
    ([name, schema]) => [`${SCHEMAS}/${name}`, `${JSON.stringify(schema, undefined, 2)}\n`] as const,
  );
  return new Map([
    ['docs/audit.md', auditPage(AUDIT_RULES)],
    ['docs/cli.md', commandReference()],
    ['docs/conformance.md', conformancePage()],
    ['docs/doctor.md', doctorPage(DOCTOR_RULES, LOG_RULES)],
    ['docs/lock.md', lockPage(LOCK_RULES)],
    ['docs/plugins.md', pluginsPage(plugins)],
    ['native/shim/plugins.h', shimTable(plugins)],
    ...schemas,
  ]);
}

if (import.meta.main) {
  for (const [path, text] of generatedFiles()) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

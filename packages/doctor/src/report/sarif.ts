/** A report in SARIF 2.1.0 (OASIS), the format that code scanners and editors read. */
import { pathToFileURL } from 'node:url';
import type { Finding, Place, TextEdit } from '../finding.ts';
import type { Rule, Rules } from '../rule.ts';
import type { Report } from './report.ts';

/** What else a log says. */
export interface SarifOptions {
  readonly rules: Rules;
  /** The version of the tool. */
  readonly version: string;
  /** The path that a place's URI is to have: relative to the repository, or absolute. */
  readonly relative?: (path: string) => string;
}

/** The log as JSON text that ends with a newline. */
export function renderSarif(report: Report, options: SarifOptions): string {
  const used = [...options.rules.values()].filter(({ id }) =>
    [...report.findings, ...report.silenced.map(({ finding }) => finding)].some(
      (finding) => finding.id === id,
    ),
  );
  const indices = new Map(used.map(({ id }, index) => [id, index]));
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'heddle', semanticVersion: options.version, rules: used.map(descriptor) },
        },
        columnKind: 'utf16CodeUnits',
        results: [
          ...report.findings.map((finding) => result(finding, indices, options)),
          ...report.silenced.map(({ finding, reason }) => ({
            ...result(finding, indices, options),
            suppressions: [{ kind: 'external', justification: reason }],
          })),
        ],
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function descriptor({ id, title, severity, explains }: Rule) {
  return {
    id,
    name: id,
    shortDescription: { text: title },
    fullDescription: { text: explains },
    defaultConfiguration: { level: severity },
  };
}

function result(finding: Finding, indices: ReadonlyMap<string, number>, options: SarifOptions) {
  const {
    id,
    severity,
    place,
    subject,
    what,
    consequence,
    remedy,
    commands = [],
    evidence = [],
    fix,
  } = finding;
  const ruleIndex = indices.get(id);
  const logical = subject === undefined ? {} : { logicalLocations: [{ fullyQualifiedName: subject }] };
  const physical = place === undefined ? {} : { physicalLocation: physicalLocation(place, options) };
  return {
    ruleId: id,
    ...(ruleIndex !== undefined && { ruleIndex }),
    level: severity,
    message: { text: [`${what}.`, consequence, `To mend: ${remedy}`, ...commands, ...evidence].join('\n') },
    ...((place !== undefined || subject !== undefined) && { locations: [{ ...physical, ...logical }] }),
    ...(fix?.edits !== undefined && { fixes: [fixJson(fix.what, fix.edits, options)] }),
  };
}

function physicalLocation({ file, line, column, excerpt }: Place, options: SarifOptions) {
  return {
    artifactLocation: { uri: uriOf(file, options) },
    ...(line !== undefined && {
      region: {
        startLine: line,
        ...(column !== undefined && { startColumn: column }),
        ...(excerpt !== undefined && { snippet: { text: excerpt } }),
      },
    }),
  };
}

function fixJson(what: string, edits: readonly TextEdit[], options: SarifOptions) {
  return {
    description: { text: what },
    artifactChanges: [...Map.groupBy(edits, ({ file }) => file)].map(([file, changes]) => ({
      artifactLocation: { uri: uriOf(file, options) },
      replacements: changes.map(({ offset, length, text }) => ({
        deletedRegion: { charOffset: offset, charLength: length },
        ...(text !== '' && { insertedContent: { text } }),
      })),
    })),
  };
}

function uriOf(file: string, { relative = (path) => path }: SarifOptions): string {
  const path = relative(file);
  return path.startsWith('/') ? pathToFileURL(path).href : path.split('/').map(encodeURIComponent).join('/');
}

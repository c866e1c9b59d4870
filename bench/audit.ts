/** How long `audit` takes for a directory of a thousand files, beside what reading and parsing them alone takes. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Summary, summarize } from '@heddle/bench';
import { audit, nodeFiles } from '@heddle/doctor';

const FILES = 1000;

/** One way of going through the files. */
export interface AuditTime {
  readonly name: string;
  readonly milliseconds: Summary;
}

/** Measures in this process, the code loaded. Every fiftieth file has a fault. */
export function audits(rounds: number): readonly AuditTime[] {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-bench-audit-'));
  for (let index = 0; index < FILES; index++) {
    writeFileSync(join(directory, `${String(index).padStart(4, '0')}-net.conflist`), network(index));
  }
  const contenders = [
    { name: `audit of ${FILES} files`, run: () => audit({ paths: [directory], files: nodeFiles }).fileCount },
    { name: 'reading and parsing alone', run: () => readAndParse(directory) },
  ].map((contender) => ({ ...contender, milliseconds: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const { run, milliseconds } of contenders) {
      const start = performance.now();
      run();
      milliseconds.push(performance.now() - start);
    }
  }
  rmSync(directory, { recursive: true });
  return contenders.map(({ name, milliseconds }) => ({ name, milliseconds: summarize(milliseconds) }));
}

function network(index: number): string {
  const subnet = `10.${Math.floor(index / 250)}.${index % 250}.0/24`;
  const fault = index % 50 === 0 ? { isGatway: true } : {};
  const ipam = {
    type: 'host-local',
    ranges: [[{ subnet }], [{ subnet: `fd00:${index.toString(16)}::/64` }]],
  };
  const plugins = [
    {
      type: 'bridge',
      bridge: `br${index}`,
      isDefaultGateway: true,
      ipMasq: true,
      hairpinMode: true,
      ...fault,
      ipam,
    },
    { type: 'portmap', capabilities: { portMappings: true } },
    { type: 'firewall' },
    { type: 'tuning', sysctl: { 'net.core.somaxconn': '500' } },
  ];
  return JSON.stringify({ cniVersion: '1.0.0', name: `net${index}`, plugins }, null, 2);
}

function readAndParse(directory: string): number {
  return readdirSync(directory).map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8'))).length;
}

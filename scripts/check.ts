/** Checks that need no kernel: format, lint and layers, types, unused code, what is made of the code. All run; any failure fails. */
import { spawnSync } from 'node:child_process';

const checks: readonly (readonly [what: string, program: string, ...args: string[]])[] = [
  ['format, lint and layers', 'biome', 'check', '.'],
  ['types', 'tsc', '-p', '.'],
  ['unused code', 'knip', '--no-progress', '--no-config-hints', '--exclude', 'binaries'],
  ['what is made of the code', 'node', '--conditions=source', '--test', 'scripts/generate/generate.test.ts'],
];

let failed = 0;
for (const [what, program, ...args] of checks) {
  const { status, stdout, stderr } = spawnSync(`node_modules/.bin/${program}`, args, { encoding: 'utf8' });
  if (status === 0) {
    console.log(`ok    ${what}`);
    continue;
  }
  failed++;
  console.log(`FAIL  ${what}\n${stdout}${stderr}`);
}
console.log(`${checks.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

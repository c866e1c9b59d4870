/**
 * Compares Heddle's plugin binary with the reference plugins, in one run, interleaved: each round runs every
 * contender once, so that a busy moment of the machine falls on all of them. Ratios are of medians.
 *
 * `make bench`, or `node --conditions=source bench/main.ts [ROUNDS]`.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildStandalone } from '../scripts/build-standalone.ts';
import { enterSandbox } from '../scripts/sandbox.ts';
import { attachments } from './attachments.ts';
import { audits } from './audit.ts';
import { startup } from './startup.ts';

enterSandbox();
const rounds = Number(process.argv[2] ?? 40);
const heddle = resolve(buildStandalone(), 'heddle-cni');
const references = [
  { name: 'reference 1.10.0', directory: resolve('build/reference') },
  { name: 'Debian 1.1.1', directory: '/usr/lib/cni' },
].filter(({ name, directory }) => {
  if (existsSync(`${directory}/bridge`)) return true;
  console.log(`skipped: ${name}: not in ${directory}`);
  return false;
});

console.log(`${rounds} rounds, interleaved; milliseconds are medians, with the middle half in brackets\n`);
await startup(heddle, references, rounds);
await attachments(heddle, references, rounds);
audits(rounds);

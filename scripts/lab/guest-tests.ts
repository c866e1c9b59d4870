/** Inside the guest: runs test files in this process and reports each event on file descriptor 3. */
import { writeSync } from 'node:fs';
import { run } from 'node:test';
import { eventLine, REPORT_FD } from './test-events.ts';

for await (const event of run({ files: process.argv.slice(2), isolation: 'none' })) {
  const line = Buffer.from(eventLine(event));
  for (let at = 0; at < line.length; ) at += writeSync(REPORT_FD, line, at);
}
// What tests left open does not hold up the rest.
process.exit(0);

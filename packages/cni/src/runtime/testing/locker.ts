/** A process that takes a lock, says so, and holds it until its stdin ends. Started by the tests of locks. */

import { InflightMarks } from '../inflight.ts';
import { FileLocks } from '../locks.ts';

const [kind, directory = '', name = '', mode] = process.argv.slice(2);
const locks = new FileLocks(directory);
switch (kind) {
  case 'network':
    await locks.network(name, mode === 'exclusive' ? 'exclusive' : 'shared');
    break;
  case 'container':
    await locks.container(name);
    break;
  default:
    new InflightMarks(directory).begin(name);
}
process.stdout.write('held\n');
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));

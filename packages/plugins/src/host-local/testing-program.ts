/** The plugin as a process of its own, for tests of several at once. */
import { readFileSync } from 'node:fs';
import { inProcess } from '../addressing/testing.ts';
import { hostLocalAt } from './index.ts';

const [, , command = '', containerID = ''] = process.argv;
const config = JSON.parse(readFileSync(0, 'utf8')) as object;
const plugin = inProcess(hostLocalAt({ dataDir: '/nowhere', cacheDir: '/nowhere' }));
const { exitCode, stdout, stderr } = await plugin({ command, containerID, config });
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = exitCode;

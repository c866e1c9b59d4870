/** Writes `docs/cli.md` from the commands. A test of the command fails when it is not current. */
import { writeFileSync } from 'node:fs';
import { commandReference } from '@heddle/cli';

writeFileSync('docs/cli.md', commandReference());

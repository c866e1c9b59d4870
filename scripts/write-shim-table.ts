/** Writes `native/shim/plugins.h` from the plugins. A test fails when it is not current. */
import { writeFileSync } from 'node:fs';
import { SHIM_TABLE, shimTable } from './shim-table.ts';

writeFileSync(SHIM_TABLE, await shimTable());

import assert from 'node:assert/strict';
import type { LabRequest, PluginCaller } from './plugin-caller.ts';
import type { Sabotage } from './sabotage.ts';

/** What came of an ADD that was sabotaged. */
export interface DespiteOutcome {
  /** In words, for messages: what was sabotaged, and what the plugin answered. */
  readonly what: string;
  /** Whether it succeeded all the same; it has been taken down again then. */
  readonly gotBy: boolean;
}

/** Has an ADD fail at a request, which only one for what is good to have, but not needed, may get by. */
export async function addDespite(
  lab: PluginCaller,
  request: LabRequest,
  sabotage: Sabotage,
): Promise<DespiteOutcome> {
  const { exitCode, stdout, stderr } = await lab.run({ ...request, command: 'ADD', wrap: sabotage.wrap });
  const what = `${sabotage}: ${stdout}${stderr}`;
  const gotBy = exitCode === 0;
  if (gotBy) {
    assert.match(sabotage.failed ?? 'sysctl.nothing', /^sysctl\./, what);
    await lab.del({ ...request, prevResult: JSON.parse(stdout) });
  } else assert.ok(sabotage.failed !== undefined, what);
  return { what, gotBy };
}

/** The scenarios of the documentation come out as they say. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { LabError, parseScenario, playSteps, type Scenario } from '@heddle/lab';
import { startLab } from './cluster-lab.ts';

async function play({ lab: spec, steps }: Scenario): Promise<readonly string[]> {
  const told: string[] = [];
  await using lab = await startLab(spec);
  await playSteps(lab, steps, (line) => told.push(line));
  return told;
}

for (const file of globSync('docs/scenarios/*.json').sort()) {
  test(`${file} comes out as it says`, async () => {
    const scenario = parseScenario(readFileSync(file, 'utf8'), file);
    assert.notEqual(scenario.about, '');
    assert.equal((await play(scenario)).length, scenario.steps.length);
  });
}

test('a step that comes out otherwise is told with what was seen', async () => {
  const scenario = parseScenario(
    JSON.stringify({
      lab: { nodes: { node1: { segment: 'a' } }, network: { wiring: 'by-hand' } },
      steps: [
        { do: 'matrix' },
        {
          do: 'run',
          on: 'pod1-1',
          command: ['cat', '/proc/sys/net/ipv4/ip_forward'],
          prints: '^7$',
          seconds: 0,
        },
      ],
    }),
    'x.json',
  );
  await assert.rejects(play(scenario), (error) => {
    assert.ok(error instanceof LabError);
    assert.match(error.message, /^step 2, run on=pod1-1 .*: it printed:\n0/);
    return true;
  });
});

/** Overlays of kinds that small kernels lack: pods of two segments reach each other in each of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LabSpec, specOf } from '@heddle/lab';
import { startLab, untilComplete } from './cluster-lab.ts';

const CASES: readonly (readonly [what: string, overhead: number, spec: LabSpec])[] = [
  ['Geneve', 50, specOf({ nodes: 2, network: { encapsulation: 'always', overlay: 'geneve' } })],
  [
    'IP-in-IP',
    20,
    specOf({ nodes: 2, families: 'ipv4', network: { encapsulation: 'always', overlay: 'ipip' } }),
  ],
];

for (const [what, overhead, spec] of CASES) {
  test(`everybody reaches everybody in ${what}, with packets as large as pods may send`, async () => {
    await using lab = await startLab(spec);
    const { reaches } = await untilComplete(lab, { timeout: 20_000 });
    assert.ok(reaches.length >= 6);
    const way = { from: 'pod1-1', to: 'pod2-1', family: 4, fragments: false } as const;
    const size = 1500 - overhead;
    assert.equal((await lab.ask('ping', { ...way, size, timeout: 20_000 })).answered, true);
    assert.deepEqual(await lab.ask('ping', { ...way, size: size + 1 }), {
      answered: false,
      error: 'EMSGSIZE',
    });
    const sent = await lab.ask('transfer', { from: 'pod1-1', to: 'pod2-1', bytes: 500_000, timeout: 60_000 });
    assert.equal(sent.complete, true, JSON.stringify(sent));
  });
}

/** The healthy control: on a node where nothing is wrong the doctor finds nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DoctorLab } from './doctor-lab.ts';

test('a node in order is found clean, and its packets are followed to the end', async () => {
  using lab = new DoctorLab();
  const list = lab.podnet();
  const published = {
    capabilityArgs: { portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }] },
  };
  await lab.attach(list, 'c1', published);
  await lab.attach(list, 'c2');
  const { findings, walks } = await lab.examine();
  assert.deepEqual(findings, []);
  assert.deepEqual(
    walks.map(({ family, target, steps }) => [
      family,
      target,
      steps.every(({ ok }) => ok),
      steps.at(-1)?.what,
    ]),
    [
      [4, '192.0.2.1', true, 'packets of 1500 bytes get to 192.0.2.1'],
      [6, '2001:db8:1::1', true, 'packets of 1500 bytes get to 2001:db8:1::1'],
    ],
  );
});

test('nothing is left of the look: no table, no neighbour, no file', async () => {
  using lab = new DoctorLab();
  const list = lab.podnet();
  await lab.attach(list, 'c1');
  await lab.findings();
  const before = lab.ruleset;
  await lab.findings();
  assert.equal(
    lab.ruleset.replaceAll(/packets \d+ bytes \d+/g, ''),
    before.replaceAll(/packets \d+ bytes \d+/g, ''),
  );
  assert.doesNotMatch(lab.ruleset, /heddle-doctor/);
});

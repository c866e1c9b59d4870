/** The same inputs for the reference's host-device and ours, and devices that one moved under the verbs of the other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CNI_VERSIONS, PluginError } from '@heddle/cni';
import { hostLocal } from '../host-local/index.ts';
import { type Container, type LabRequest, PluginLab, ReferencePlugins } from '../testing/index.ts';
import { hostDevice } from './index.ts';
import { addDevice, MAC, onHost } from './testing.ts';

const CURRENT = [
  'the current release',
  ReferencePlugins.findCurrent(),
  ReferencePlugins.ABSENT_CURRENT,
] as const;
const RELEASES = [
  CURRENT,
  ["the distribution's release", ReferencePlugins.find(), ReferencePlugins.ABSENT],
] as const;
const BACK = { name: 'hd0', mac: MAC, mtu: 1400, alias: undefined, up: false };

function requestIn(lab: PluginLab, container: Container, more: object = {}): LabRequest {
  const ipam = {
    type: 'host-local',
    dataDir: lab.directory,
    ranges: [[{ subnet: '10.1.2.0/24' }], [{ subnet: 'fd00::/64' }]],
    routes: [
      { dst: '192.0.2.0/24', gw: '10.1.2.1' },
      { dst: '2001:db8::/32', gw: 'fd00::1' },
    ],
  };
  const config = { type: 'host-device', cniVersion: '1.0.0', device: 'hd0', ipam, ...more };
  return { config, container };
}

/** The container as `ip` shows it. */
function inside(container: Container): readonly string[] {
  const settled = (text: string) =>
    text.replace(/\d+: eth0@\S+|if\d+|fe80::\S+|tentative|nodad|valid_lft.*/g, '').replace(/\s+/g, ' ');
  return [['address', 'show', 'dev', 'eth0'], ['route'], ['-6', 'route']].map((args) =>
    settled(container.run('ip', ...args)),
  );
}

for (const [release, reference, absent] of RELEASES) {
  const skip = reference === undefined && absent;

  test(`${release}: the same result, link, addresses and routes`, { skip }, async () => {
    for (const cniVersion of CNI_VERSIONS) {
      // At the others, without addresses: the reference waits two seconds for its IPv6 ones.
      const more = { cniVersion, ...(cniVersion === '1.0.0' ? {} : { ipam: undefined }) };
      using theirs = new PluginLab([]);
      using ours = new PluginLab([hostDevice, hostLocal]);
      for (const lab of [theirs, ours]) addDevice(lab);
      const [their, our] = [theirs.container('c1'), ours.container('c1')];
      const outcome = answerOf(reference, theirs, requestIn(theirs, their, more));
      if (outcome.code === 1) continue;
      const { stdout } = await ours.run({ ...requestIn(ours, our, more), command: 'ADD' });
      const answer = JSON.parse(stdout) as { code?: number; msg?: string };
      assert.deepEqual(shapeOf(answer, our), shapeOf(outcome, their), cniVersion);
      if (answer.code === undefined) assert.deepEqual(inside(our), inside(their), cniVersion);
    }
  });

  test(`${release}: what it moved, CHECK accepts and DEL returns`, { skip }, async () => {
    using lab = new PluginLab([hostDevice, hostLocal]);
    addDevice(lab);
    const request = requestIn(lab, lab.container());
    const prevResult = JSON.parse(reference?.run(lab.host, { ...request, command: 'ADD' }) ?? '');
    await lab.check({ ...request, prevResult });
    await lab.del({ ...request, prevResult });
    assert.deepEqual(await onHost(lab), BACK);
  });

  test(`${release}: what we moved, it checks and returns`, { skip }, async () => {
    using lab = new PluginLab([hostDevice, hostLocal]);
    addDevice(lab);
    const container = lab.container();
    const request = requestIn(lab, container);
    const prevResult = await lab.add(request);
    reference?.run(lab.host, { ...request, command: 'CHECK', prevResult });
    reference?.run(lab.host, { ...request, command: 'DEL', prevResult });
    // The distribution's release leaves the alias.
    assert.deepEqual({ ...(await onHost(lab)), alias: undefined }, BACK);
  });
}

// The distribution's release does not give the device back.
test('both refuse a name that is taken, on either side', {
  skip: CURRENT[1] === undefined && CURRENT[2],
}, async () => {
  using lab = new PluginLab([hostDevice]);
  addDevice(lab);
  const container = lab.container();
  const request = { ...requestIn(lab, container, { ipam: undefined }) };
  container.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth9');
  assert.throws(() => CURRENT[1]?.run(lab.host, { ...request, command: 'ADD' }), PluginError);
  assert.deepEqual(await onHost(lab), { ...BACK, up: true });
  await assert.rejects(lab.add(request), { cniCode: 141 });
  container.run('ip', 'link', 'delete', 'eth0');

  await lab.add(request);
  lab.host.run('ip', 'link', 'add', 'hd0', 'type', 'veth', 'peer', 'name', 'other0');
  assert.throws(() => CURRENT[1]?.run(lab.host, { ...request, command: 'DEL' }), PluginError);
  assert.equal((await container.session.links.get('eth0')).up, true);
  await assert.rejects(lab.del(request), { cniCode: 141 });
  assert.equal((await container.session.links.get('eth0')).up, true);
});

interface Answer {
  readonly code?: number | undefined;
  readonly msg?: string | undefined;
}

/** What it prints, be it a result or an error. */
function answerOf(reference: ReferencePlugins | undefined, lab: PluginLab, request: LabRequest): Answer {
  try {
    return JSON.parse(reference?.run(lab.host, { ...request, command: 'ADD' }) ?? '');
  } catch (error) {
    if (error instanceof PluginError) return { code: error.cniCode, msg: error.msg };
    throw error;
  }
}

/** A result without what is random; of an error only the text, for the codes are our own. */
function shapeOf(answer: Answer, { path }: Container): unknown {
  if (answer.msg !== undefined) return answer.msg;
  const { dns, ...rest } = answer as { dns?: object; cniVersion?: string };
  // The distribution's release prints an empty dns in results of 1.x as well.
  const isEmpty = rest.cniVersion?.startsWith('1.') && Object.keys(dns ?? {}).length === 0;
  return JSON.parse(JSON.stringify(isEmpty ? rest : answer).replaceAll(path, 'SANDBOX'));
}

/** CHECK finds each kind of drift. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BandwidthScene } from './testing.ts';

const DRIFTS: readonly (readonly [what: string, command: readonly string[], said: RegExp])[] = [
  ['no limit of what comes', ['tc', 'qdisc', 'delete', 'dev', 'hdv0', 'root'], /hdv0 has no limit/],
  [
    'another limit of what comes',
    [
      'tc',
      'qdisc',
      'replace',
      'dev',
      'hdv0',
      'root',
      'handle',
      '1:',
      ...['tbf', 'rate', '1mbit', 'burst', '9000', 'limit', '9000'],
    ],
    /the limit of hdv0 should be rate 1 limit 1/,
  ],
  ['no limit of what goes', ['tc', 'qdisc', 'delete', 'dev', 'IFB', 'root'], /bwp\w+ has no limit/],
  ['ifb device gone', ['ip', 'link', 'delete', 'IFB'], /link bwp\w+ is missing/],
  ['ifb device down', ['ip', 'link', 'set', 'IFB', 'down'], /link bwp\w+ should be up/],
  [
    'no redirection',
    ['tc', 'filter', 'delete', 'dev', 'hdv0', 'ingress'],
    /what comes in by hdv0 should go to bwp/,
  ],
  ['no ingress discipline', ['tc', 'qdisc', 'delete', 'dev', 'hdv0', 'ingress'], /what comes in by hdv0/],
];

for (const [what, [program = '', ...args], said] of DRIFTS) {
  test(`CHECK finds drift: ${what}`, async () => {
    using scene = await BandwidthScene.create();
    const prevResult = await scene.lab.add(scene.request());
    const request = { ...scene.request(), prevResult };
    await scene.lab.check(request);
    const [ifb = ''] = await scene.ifbs();
    scene.lab.host.run(program, ...args.map((arg) => (arg === 'IFB' ? ifb : arg)));
    await assert.rejects(scene.lab.check(request), { cniCode: 150, msg: said });
  });
}

test('CHECK needs the previous result and the interface', async () => {
  using scene = await BandwidthScene.create();
  const { prevResult: _, ...alone } = scene.request();
  await assert.rejects(scene.lab.check(alone), { msg: 'Required prevResult missing' });
  await scene.lab.add(scene.request());
  scene.container.run('ip', 'link', 'delete', 'eth0');
  await assert.rejects(scene.lab.check(scene.request()), { cniCode: 140, msg: /eth0 does not exist/ });
});

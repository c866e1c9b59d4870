import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CliLab } from '../testing/cli-lab.ts';
import { pluginObject } from './conformance-choice.ts';

test('a number of kills that is none is refused before anything is run', async () => {
  using lab = new CliLab();
  for (const wrong of ['0', '-1', 'some', '1.5']) {
    const { exitCode, stderr } = await lab.run(['conformance', '/nowhere', `--crash=${wrong}`]);
    assert.equal(exitCode, 2, stderr);
    assert.match(stderr, /neither a number from 1 nor all/, wrong);
  }
});

test('a choice by which nothing would be checked is refused, and so is one that would be passed over', async () => {
  using lab = new CliLab();
  const wrong: readonly (readonly [args: readonly string[], words: RegExp])[] = [
    [[], /which plugin\?/],
    [['/nowhere', '--check', 'gc/once'], /there is no check "gc\/once" of a plugin/],
    [['/nowhere', '--check', 'runtime/gc'], /there is no check "runtime\/gc" of a plugin/],
    [['/nowhere', '--suite', 'gcc'], /there is no suite "gcc"/],
    [['/nowhere', '--suite', 'gc', '--check', 'contract/not-json'], /"contract\/not-json" is in no suite/],
    [['--runtime', 'heddle', '--check', 'gc/twice'], /there is no check "gc\/twice" of a runtime/],
    [['--runtime', 'my-runtime', '{verb}'], /either --runtime or a plugin, not both: "\{verb\}"/],
    [['--runtime', 'heddle', '--suite', 'gc'], /--suite is about plugins/],
    [['--runtime', 'heddle', '--config', 'p.json'], /--config is about plugins/],
  ];
  for (const [args, words] of wrong) {
    const { exitCode, stderr, stdout } = await lab.run(['conformance', ...args]);
    assert.equal(exitCode, 2, `${args}: ${stderr}`);
    assert.match(stderr, words);
    assert.equal(stdout, '');
  }
});

test('of a network list it takes the object that is of the plugin, and says where a file is no JSON', async () => {
  using lab = new CliLab();
  const config = (text: string) => writeFileSync(join(lab.root, 'p.json'), text);
  const run = () => lab.run(['conformance', '/nowhere/mine', '--config', 'p.json']);
  for (const [plugins, words] of [
    [[{ type: 'bridge' }, { type: 'portmap' }], /of 2 plugins 0 are of the type "mine"/],
    [
      [
        { type: 'mine', a: 1 },
        { type: 'mine', a: 2 },
      ],
      /of 2 plugins 2 are of the type "mine"/,
    ],
    [[], /the plugin's object of a network list is expected/],
  ] as const) {
    config(JSON.stringify({ plugins }));
    const { exitCode, stderr } = await run();
    assert.equal(exitCode, 2, stderr);
    assert.match(stderr, words);
  }
  config('{\n  // a comment\n  "type": "mine"\n}');
  assert.match((await run()).stderr, /p\.json:2:3: /);
  const chain = { plugins: [{ type: 'bridge' }, { type: 'mine', mtu: 1400 }] };
  assert.deepEqual(pluginObject(chain, 'mine', 'p.json'), { type: 'mine', mtu: 1400 });
  assert.deepEqual(pluginObject({ plugins: [{ type: 'other' }] }, 'mine', 'p.json'), { type: 'other' });
});

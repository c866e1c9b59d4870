import assert from 'node:assert/strict';
import { test } from 'node:test';
import { network, single } from './testing/networks.ts';
import { StubPlugins } from './testing/stub-plugins.ts';

test('validation gives the capabilities that are switched on', async () => {
  using stubs = new StubPlugins('one', 'two');
  const list = network([
    { type: 'one', capabilities: { mac: true, ips: false } },
    { type: 'two', capabilities: { portMappings: true } },
  ]);
  assert.deepEqual(await stubs.runtime().validate(list), new Set(['mac', 'portMappings']));
});

test('VERSION is asked as the reference asks it', async () => {
  using stubs = new StubPlugins('one');
  assert.deepEqual(await stubs.runtime().version('one'), {
    type: 'one',
    path: `${stubs.bin}/one`,
    supportedVersions: ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'],
  });
  const [call] = stubs.calls();
  assert.deepEqual(call?.stdin, { cniVersion: '1.1.0' });
  const { CNI_COMMAND, CNI_NETNS, CNI_IFNAME, CNI_PATH, CNI_CONTAINERID, CNI_ARGS } = call?.env ?? {};
  assert.deepEqual(
    [CNI_COMMAND, CNI_NETNS, CNI_IFNAME, CNI_PATH, CNI_CONTAINERID, CNI_ARGS],
    ['VERSION', 'dummy', 'dummy', 'dummy', '', ''],
  );
});

test('a plugin must speak the exact version; none means 0.1.0', async () => {
  using stubs = new StubPlugins('noop');
  const runtime = stubs.runtime();
  const message =
    /^plugin noop does not support config version "broken"; .*\/noop supports \[0\.1\.0 .* 1\.1\.0\]$/;
  await assert.rejects(runtime.validate(single({ type: 'noop', cniVersion: 'broken' })), {
    message,
    cniCode: 1,
  });
  await assert.rejects(runtime.validate(network(['noop'], { cniVersion: 'broken' })), {
    msg: '[plugin noop does not support config version "broken"]',
  });
  await runtime.validate(network(['noop'], { cniVersion: '' }));
});

test('all that is wrong is told at once', async () => {
  using stubs = new StubPlugins('noop');
  const list = network(['missing', 'noop', 'gone'], { cniVersion: 'broken' });
  const path = stubs.bin;
  await assert.rejects(stubs.runtime().validate(list), {
    msg: `[failed to find plugin "missing" in path [${path}] plugin noop does not support config version "broken" failed to find plugin "gone" in path [${path}]]`,
  });
});

test('a plugin that does not know VERSION speaks 0.1.0', async () => {
  using stubs = new StubPlugins();
  stubs.install('old', {
    VERSION: { stdout: '{"code":4,"msg":"unknown CNI_COMMAND: VERSION"}', exitCode: 1 },
  });
  await stubs.runtime().validate(network(['old'], { cniVersion: '0.1.0' }));
  await assert.rejects(stubs.runtime().validate(network(['old'])), /old supports \[0\.1\.0\]/);
});

test('podman#14363: a plugin that fails VERSION is not held against the network; its text is a warning', async () => {
  using stubs = new StubPlugins();
  const path = stubs.install('fussy', {
    VERSION: { stdout: '{"code":7,"msg":"missing network name"}', exitCode: 1 },
  });
  await stubs.runtime().validate(network(['fussy']));
  assert.deepEqual(stubs.warnings, [
    `plugin "fussy" (${path}) does not tell its versions: missing network name`,
  ]);
});

test('azure-container-networking#918: no answer to VERSION blames the plugin, and shows no configuration', async () => {
  using stubs = new StubPlugins();
  const path = stubs.install('mute', { VERSION: {} });
  await assert.rejects(stubs.runtime().validate(network(['mute'])), {
    message: `[plugin "mute" (${path}) returned no output to VERSION]`,
  });
});

const ANSWERS: readonly (readonly [string, string | readonly string[]])[] = [
  ['{"cniVersion":"0.2.0"}', ['0.1.0', '0.2.0']],
  ['{"cniVersion":"1.0.0","supportedVersions":["0.-42.0","1.0.0"]}', ['0.-42.0', '1.0.0']],
  ['{"supportedVersions":["1.0.0"]}', 'decoding version info: missing field cniVersion'],
  ['{"cniVersion":"1.0.0"}', 'decoding version info: missing field supportedVersions'],
  [
    '{"cniVersion":"1.0.0","supportedVersions":"1.0.0"}',
    'decoding version info: supportedVersions must be a list of strings',
  ],
  ['[]', 'decoding version info: expected an object'],
  ['hello', 'decoding version info: expected a value, got hello'],
];

for (const [stdout, expected] of ANSWERS) {
  test(`VERSION answered with ${stdout}`, async () => {
    using stubs = new StubPlugins();
    const path = stubs.install('noop', { VERSION: { stdout } });
    const running = stubs.runtime().version('noop');
    if (typeof expected !== 'string')
      assert.deepEqual(((await running) as { supportedVersions: unknown }).supportedVersions, expected);
    else {
      const cniDetails = `plugin "noop" (${path}) answered ${JSON.stringify(stdout)}`;
      await assert.rejects(running, { msg: expected, cniDetails });
    }
  });
}

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DEFAULT_PLACES } from '../surroundings.ts';
import { pluginDirectories, pluginReaders } from './plugin-directories.ts';

test('plugins are looked for where runtimes of the node would', () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-bin-'));
  try {
    const at = (name: string) => join(directory, name);
    const places = {
      ...DEFAULT_PLACES,
      programDirs: [],
      command: undefined,
      pluginDir: at('usual'),
      otherPluginDirs: [at('debian')],
      runtimeConfigs: [at('config.toml')],
    };
    const look = (env = {}) => pluginDirectories({ env, places });
    assert.deepEqual(look(), [at('usual'), at('debian')], 'nothing is in the usual directory');
    mkdirSync(at('usual'));
    assert.deepEqual(look(), [at('usual'), at('debian')], 'it is empty');
    writeFileSync(join(at('usual'), 'bridge'), '');
    assert.deepEqual(look(), [at('usual')], 'a runtime that is not told otherwise looks there alone');
    writeFileSync(at('config.toml'), `bin_dir = "${at('own')}"\n`);
    assert.deepEqual(look(), [at('usual'), at('own')], 'a runtime is configured for another one');
    assert.deepEqual(look({ CNI_PATH: '/a:/b' }), ['/a', '/b']);
    const readers = (text: string, env = {}) => {
      writeFileSync(at('config.toml'), text);
      return pluginReaders({ env, places }).map(({ directories }) => directories);
    };
    assert.deepEqual(readers('bin_dir = "/own"\n'), [['/own']]);
    assert.deepEqual(readers('bin_dirs = ["/own", "/usr/lib/cni"]\n'), [['/own', '/usr/lib/cni']]);
    assert.deepEqual(readers('version = 2\nimports = []\n'), [[at('usual')]], 'the default counts');
    assert.deepEqual(readers('imports = ["/etc/containerd/conf.d/*.toml"]\n'), [], 'who knows');
    assert.deepEqual(readers('disabled_plugins = ["cri"]\n'), [], 'it serves no pods');
    assert.deepEqual(readers('bin_dir = "/own"\n', { CNI_PATH: '/a' }), []);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

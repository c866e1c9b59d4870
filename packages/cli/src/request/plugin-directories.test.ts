import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Viewpoint } from '@heddle/doctor';
import { DEFAULT_PLACES } from '../surroundings.ts';
import { directoriesOf, pluginDirectories, pluginReaders } from './plugin-directories.ts';

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
      runtimeConfigs: ['config.toml', 'crio.conf', 'crio.conf.d', 'containers.conf'].map(at),
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
    rmSync(at('config.toml'));
    writeFileSync(at('crio.conf'), '[crio.network]\n# plugin_dirs = ["/x"]\n');
    const crio = () => pluginReaders({ env: {}, places });
    assert.deepEqual(crio(), [
      { runtime: 'CRI-O', directories: [at('usual')], setting: `plugin_dirs in ${at('crio.conf')}` },
    ]);
    mkdirSync(at('crio.conf.d'));
    writeFileSync(
      at('crio.conf.d/10-a.conf'),
      '[crio.network]\nplugin_dirs = [\n  "/usr/libexec/cni/",\n]\n',
    );
    writeFileSync(at('crio.conf.d/20-b.conf'), 'plugin_dirs = ["/late"]\n');
    writeFileSync(at('crio.conf.d/README'), 'plugin_dirs = ["/no"]\n');
    assert.deepEqual(crio()[0]?.directories, ['/late'], 'the last drop-in counts');
    assert.deepEqual(look(), [at('usual'), '/usr/libexec/cni/', '/late']);
    const asked = (viewpoint: Viewpoint, env = {}) => directoriesOf({ env, places }, viewpoint);
    assert.deepEqual(asked('crio'), ['/late']);
    assert.deepEqual(asked('containerd'), [at('usual')]);
    assert.equal(asked('podman').length, 5, 'its own defaults');
    writeFileSync(at('containers.conf'), '[network]\ncni_plugin_dirs = ["/pod"]\n');
    assert.deepEqual(asked('podman'), ['/pod']);
    assert.deepEqual(asked('heddle'), look());
    assert.deepEqual(asked('podman', { CNI_PATH: '/a' }), ['/a']);
    assert.deepEqual(asked('heddle', { CNI_PATH: ':' }), [], 'nothing is left, and no default in its place');
  } finally {
    rmSync(directory, { recursive: true });
  }
});

import assert from 'node:assert/strict';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { otherDirectories } from './runtime-configs.ts';

const TO = { pluginDir: '/opt/cni/bin', configDir: '/etc/cni/net.d' };

const settings: readonly (readonly [what: string, text: string, expected: readonly string[]])[] = [
  [
    'the configuration of Debian’s containerd',
    'version = 2\n\n[plugins]\n    [plugins."io.containerd.grpc.v1.cri".cni]\n      bin_dir = "/usr/lib/cni"\n      conf_dir = "/etc/cni/net.d"\n',
    ['5: bin_dir leads elsewhere, to /usr/lib/cni; make it "/opt/cni/bin"'],
  ],
  ['the right directories', 'bin_dir = "/opt/cni/bin/"\nconf_dir = \'/etc/cni/net.d\'\n', []],
  ['a list that has it', 'bin_dirs = [\n  "/usr/lib/cni",\n  "/opt/cni/bin",\n]\n', []],
  [
    'a list that does not have it',
    '[network]\ncni_plugin_dirs = [\n  "/usr/lib/cni",\n  "/usr/libexec/cni"\n]\nnetwork_config_dir = "/etc/x"\n',
    [
      '2: cni_plugin_dirs leads elsewhere, to /usr/lib/cni, /usr/libexec/cni; make it ["/opt/cni/bin"]',
      '6: network_config_dir leads elsewhere, to /etc/x; make it "/etc/cni/net.d"',
    ],
  ],
  [
    'the configuration of CRI-O',
    '[crio.network]\n# network_dir = "/x"\nnetwork_dir = "/etc/cni/net.d/"\nplugin_dirs = [\n\t"/usr/libexec/cni",\n]\n',
    ['4: plugin_dirs leads elsewhere, to /usr/libexec/cni; make it ["/opt/cni/bin"]'],
  ],
  ['what is commented out, or empty', '#bin_dir = "/x"\n# cni_plugin_dirs = ["/x"]\nconf_dir = ""\n', []],
];
for (const [what, text, expected] of settings) {
  test(`${what}: ${expected.length === 0 ? 'nothing to say' : 'told with file and line'}`, () => {
    using directory = mkdtempDisposableSync(join(tmpdir(), 'heddle-cli-'));
    const path = join(directory.path, 'config.toml');
    writeFileSync(path, text);
    assert.deepEqual(
      otherDirectories([join(directory.path, 'missing'), path], TO),
      expected.map((note) => `${path}:${note}`),
    );
  });
}

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CliLab } from '../testing/cli-lab.ts';

const VERSION = `echo '{"cniVersion":"1.0.0","supportedVersions":["0.4.0","1.0.0"]}'`;

function lab(): CliLab {
  const made = new CliLab();
  for (const type of ['bridge', 'portmap', 'host-local']) made.stub(type, VERSION);
  made.write('net.d/10-podnet.conflist', {
    ...{ cniVersion: '1.0.0', name: 'podnet' },
    plugins: [
      { type: 'bridge', bridge: 'cni0', ipam: { type: 'host-local', subnet: '10.45.0.0/24' } },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  });
  return made;
}

interface Found {
  readonly findings: readonly { readonly id: string; readonly subject?: string; readonly what: string }[];
}

async function ids(made: CliLab, ...args: readonly string[]): Promise<readonly string[]> {
  const { findings } = (await made.json(['verify', ...args])) as Found;
  return findings.map(({ id }) => id);
}

describe('heddle lock', () => {
  test('pins plugins where the runtimes of the node find them', async () => {
    using made = lab();
    mkdirSync(`${made.root}/own`);
    renameSync(join(made.places.pluginDir, 'portmap'), `${made.root}/own/portmap`);
    made.write('config.toml', `bin_dir = "${made.root}/own"\n`);
    assert.equal((await made.run(['lock'])).exitCode, 0);
    assert.ok(made.read('heddle.lock.json').includes(`"path": "${made.root}/own/portmap"`));
    assert.deepEqual(await ids(made), []);
  });

  test('writes the same text for the same node', async () => {
    using made = lab();
    const { exitCode, stdout, stderr } = await made.run(['lock']);
    assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: '' });
    assert.equal(stdout, `${made.root}/heddle.lock.json: 1 file, 3 plugins, 3 features of the kernel\n`);
    const text = made.read('heddle.lock.json');
    assert.equal(
      text.replaceAll(made.root, '/lab').replaceAll(/"sha256": "[0-9a-f]{64}"/g, '"sha256": "…"'),
      `{
  "lockVersion": 1,
  "network": "podnet",
  "files": [
    {
      "path": "10-podnet.conflist",
      "sha256": "…",
      "network": "podnet"
    }
  ],
  "plugins": [
    {
      "type": "bridge",
      "path": "/lab/bin/bridge",
      "sha256": "…",
      "versions": [
        "0.4.0",
        "1.0.0"
      ]
    },
    {
      "type": "host-local",
      "path": "/lab/bin/host-local",
      "sha256": "…",
      "versions": [
        "0.4.0",
        "1.0.0"
      ]
    },
    {
      "type": "portmap",
      "path": "/lab/bin/portmap",
      "sha256": "…",
      "versions": [
        "0.4.0",
        "1.0.0"
      ]
    }
  ],
  "kernel": [
    "link bridge",
    "link veth",
    "nft nat"
  ]
}
`,
    );
    assert.equal((await made.run(['lock', '--file', '-'])).stdout, text);
  });

  test('is not written where runtimes would read it, nor over what is no lock', async () => {
    using made = lab();
    made.write('own.key', 'a key');
    symlinkSync(join(made.root, 'net.d'), join(made.root, 'link'));
    made.write('kept.json', '');
    symlinkSync('kept.json', join(made.root, 'current.json'));
    const refused: readonly (readonly [file: string, why: RegExp])[] = [
      ['net.d/heddle.lock.json', /directory of networks.*\n.*--file/],
      ['link/x', /directory of networks/],
      ['net.d/10-podnet.conflist', /directory of networks/],
      ['own.key', /no lock/],
      ['/dev/null', /no lock/],
      ['net.d', /no lock/],
      ['nowhere/lock.json', /there is no directory/],
    ];
    for (const [file, why] of refused) {
      const { exitCode, stderr } = await made.run(['lock', '--file', file]);
      assert.notEqual(exitCode, 0, file);
      assert.match(stderr, why, file);
    }
    assert.deepEqual(readdirSync(join(made.root, 'net.d')), ['10-podnet.conflist']);
    assert.equal(made.read('own.key'), 'a key');
    for (const _ of [1, 2]) assert.equal((await made.run(['lock', '--file', 'current.json'])).exitCode, 0);
    assert.deepEqual(await ids(made, '--file', 'kept.json'), []);
  });

  test('says when there is nothing to pin', async () => {
    using made = lab();
    rmSync(join(made.root, 'net.d/10-podnet.conflist'));
    assert.match((await made.run(['lock'])).stderr, /no network in .*net\.d: the lock pins nothing/);
  });

  test('writes nothing when a plugin is missing', async () => {
    using made = lab();
    rmSync(join(made.places.pluginDir, 'portmap'));
    const { exitCode, stderr } = await made.run(['lock']);
    assert.equal(exitCode, 1);
    assert.match(stderr, /lock: plugin portmap: failed to find plugin "portmap"/);
    assert.deepEqual(
      readdirSync(made.root).filter((name) => name.startsWith('heddle.lock')),
      [],
    );
  });
});

describe('heddle verify', () => {
  test('finds nothing on the node that was locked', async () => {
    using made = lab();
    await made.run(['lock']);
    const { exitCode, stdout, stderr } = await made.run(['verify']);
    assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: '' });
    assert.match(
      stdout,
      /^nothing found \(1 file, 3 plugins, 3 features of the kernel of .*heddle\.lock\.json\)\n$/,
    );
  });

  test('says of another network what brings the old one back', async () => {
    using made = lab();
    await made.run(['lock']);
    made.write('net.d/05-first.conf', { cniVersion: '1.0.0', name: 'first', type: 'bridge' });
    const { stdout } = await made.run(['verify']);
    assert.match(stdout, /New Pods are attached to first\.\n +to mend: remove 05-first\.conf;/);
    rmSync(join(made.root, 'net.d/05-first.conf'));
    rmSync(join(made.root, 'net.d/10-podnet.conflist'));
    const gone = await made.run(['verify']);
    assert.match(gone.stdout, /New Pods get no network.*\n +to mend: put back the file of podnet;/);
  });

  const drifts: readonly (readonly [title: string, drift: (made: CliLab) => void, ids: readonly string[]])[] =
    [
      [
        'a file that was changed, by one space',
        (made) => void made.write('net.d/10-podnet.conflist', `${made.read('net.d/10-podnet.conflist')} `),
        ['lock/file-changed'],
      ],
      [
        'a file that is gone',
        (made) => rmSync(join(made.root, 'net.d/10-podnet.conflist')),
        ['lock/other-network', 'lock/file-missing'],
      ],
      [
        'a file that sorts first, with a plugin of its own',
        (made) => {
          made.stub('ptp', VERSION);
          made.write('net.d/05-first.conf', { cniVersion: '1.0.0', name: 'first', type: 'ptp' });
        },
        ['lock/other-network', 'lock/file-added', 'lock/plugin-added'],
      ],
      [
        'a file behind the others',
        (made) =>
          void made.write('net.d/20-second.conf', { cniVersion: '1.0.0', name: 'second', type: 'bridge' }),
        ['lock/file-added'],
      ],
      [
        'a plugin in the folder of a network',
        (made) => {
          mkdirSync(join(made.root, 'net.d/podnet'));
          made.write('net.d/podnet/10-more.conf', { type: 'portmap' });
        },
        ['lock/file-added'],
      ],
      [
        'a plugin that is another program',
        (made) => made.stub('bridge', `${VERSION} #`),
        ['lock/plugin-changed'],
      ],
      [
        'a plugin that is gone',
        (made) => rmSync(join(made.places.pluginDir, 'host-local')),
        ['lock/plugin-missing'],
      ],
    ];
  for (const [title, drift, expected] of drifts) {
    test(`finds ${title}`, async () => {
      using made = lab();
      await made.run(['lock']);
      drift(made);
      assert.deepEqual(await ids(made), expected);
      assert.notEqual((await made.run(['verify'])).exitCode, 0);
      await made.run(['lock']);
      const again = await made.run(['verify']);
      if (!expected.includes('lock/plugin-missing')) assert.equal(again.exitCode, 0, again.stdout);
    });
  }

  test('finds a plugin that an earlier directory has got, and one that answers other versions', async () => {
    using made = lab();
    await made.run(['lock']);
    mkdirSync(join(made.root, 'early'));
    made.write('early/portmap', made.read('bin/portmap'));
    const early = { CNI_PATH: `${made.root}/early:${made.places.pluginDir}` };
    // It cannot be executed, so no runtime would take it.
    assert.equal((await made.run(['verify'], early)).exitCode, 0);
    chmodSync(join(made.root, 'early/portmap'), 0o755);
    const moved = await made.run(['verify'], early);
    assert.equal(moved.exitCode, 4);
    assert.match(
      moved.stdout,
      /portmap is found at .*early\/portmap; it was at .*bin\/portmap \[lock\/plugin-moved\]/,
    );
    const state = made.write('state', '{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}');
    made.stub('bridge', `cat '${state}'`);
    await made.run(['lock']);
    made.write('state', '{"cniVersion":"1.0.0","supportedVersions":["1.0.0","1.1.0"]}');
    assert.deepEqual(await ids(made), ['lock/versions-changed']);
    assert.equal((await made.run(['verify'])).exitCode, 4);
  });

  test('trusts only what the key has signed, as it was signed', async () => {
    using made = lab();
    const own = generateKeyPairSync('ed25519');
    const other = generateKeyPairSync('ed25519');
    made.write('own.key', own.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    made.write('own.pub', own.publicKey.export({ type: 'spki', format: 'pem' }));
    made.write('other.pub', other.publicKey.export({ type: 'spki', format: 'pem' }));
    await made.run(['lock']);
    assert.deepEqual(await ids(made, '--verify-key', 'own.pub'), ['lock/signature']);
    assert.match((await made.run(['lock', '--sign', 'own.key'])).stdout, /, signed\n$/);
    assert.deepEqual(await ids(made, '--verify-key', 'own.pub'), []);
    assert.deepEqual(await ids(made, '--verify-key', 'other.pub'), ['lock/signature']);
    made.write('heddle.lock.json', made.read('heddle.lock.json').replace('"link veth"', '"link dummy7"'));
    assert.deepEqual(await ids(made, '--verify-key', 'own.pub'), ['lock/signature']);
    const wrong = await made.run(['lock', '--sign', 'own.pub']);
    assert.equal(wrong.exitCode, 1);
    assert.match(wrong.stderr, /own\.pub: this is not a private key/);
    made.write('no.pub', 'no key');
    const none = await made.run(['verify', '--verify-key', 'no.pub']);
    assert.match(none.stderr, /no\.pub: this is not a public key/);
  });

  test('prints SARIF and annotations, and refuses what is no lock', async () => {
    using made = lab();
    await made.run(['lock']);
    made.stub('bridge', `${VERSION} #`);
    const sarif = JSON.parse((await made.run(['verify', '--format', 'sarif'])).stdout) as {
      runs: readonly { results: readonly { ruleId: string; level: string }[] }[];
    };
    assert.deepEqual(
      sarif.runs[0]?.results.map(({ ruleId, level }) => ({ ruleId, level })),
      [{ ruleId: 'lock/plugin-changed', level: 'error' }],
    );
    assert.match(
      (await made.run(['verify', '--format', 'github'])).stdout,
      /^::error title=lock\/plugin-changed::/,
    );
    made.write('heddle.lock.json', '{"lockVersion": 2}');
    const refused = await made.run(['verify']);
    assert.equal(refused.exitCode, 1);
    assert.match(refused.stderr, /heddle\.lock\.json.*lockVersion must be 1, is 2/);
    assert.match(
      (await made.run(['verify', '--file', 'nothing'])).stderr,
      /cannot read .*nothing: there is no such file/,
    );
  });
});

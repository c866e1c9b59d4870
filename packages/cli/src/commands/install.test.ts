/** Installing into directories of a test, with a program that is a text. */
import assert from 'node:assert/strict';
import {
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { PLUGINS } from '@heddle/plugins';
import { CliLab } from '../testing/cli-lab.ts';
import { HEDDLE_VERSION } from '../version.ts';

/** The plugins of containernetworking/plugins for Linux, and the one that Flannel's nodes have besides. */
const REFERENCE_SUITE = [
  ...['bridge', 'dummy', 'host-device', 'ipvlan', 'loopback', 'macvlan', 'ptp', 'tap', 'vlan'],
  ...['dhcp', 'host-local', 'static'],
  ...['bandwidth', 'firewall', 'portmap', 'sbr', 'tuning', 'vrf'],
  'flannel',
];

const SUBNET = ['--subnet', '10.90.0.0/16'];

function labWithProgram(): CliLab {
  const lab = new CliLab();
  lab.write('program/heddle-cni', 'program 1');
  return lab;
}

function listing(lab: CliLab): Readonly<Record<string, string>> {
  const entries = readdirSync(lab.root, { recursive: true, withFileTypes: true }).filter(
    (entry) => !entry.isDirectory(),
  );
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      const text = lstatSync(path).isSymbolicLink()
        ? `-> ${readlinkSync(path)}`
        : lab.read(path.slice(lab.root.length));
      return [path.slice(lab.root.length + 1), text];
    }),
  );
}

describe('heddle install', () => {
  test('puts the program, a link for each plugin and a first network in place', async () => {
    using lab = labWithProgram();
    const { exitCode, stderr } = await lab.run(['install', ...SUBNET]);
    assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: '' });
    const { 'bin/heddle-cni': program, ...rest } = listing(lab);
    assert.equal(program, 'program 1');
    for (const type of PLUGINS.keys()) assert.equal(rest[`bin/${type}`], '-> heddle-cni');
    assert.equal(JSON.parse(rest['net.d/10-heddle.conflist'] ?? '').name, 'heddle');
    assert.equal(statSync(join(lab.root, 'bin/heddle-cni')).mode & 0o777, 0o755);
  });

  test('leaves no name of the reference suite without a plugin, nor that of flannel', async () => {
    using lab = labWithProgram();
    await lab.run(['install', ...SUBNET]);
    const names = readdirSync(lab.places.pluginDir);
    assert.deepEqual(
      REFERENCE_SUITE.filter((name) => !names.includes(name)),
      [],
    );
  });

  test('changes nothing the second time', async () => {
    using lab = labWithProgram();
    await lab.run(['install', ...SUBNET]);
    const before = listing(lab);
    const { steps } = (await lab.json(['install', '--subnet', '10.91.0.0/16'])) as {
      steps: { do: string }[];
    };
    assert.deepEqual(new Set(steps.map((step) => step.do)), new Set(['keep']));
    assert.deepEqual(listing(lab), before);
  });

  test('replaces a program that somebody has open without touching what they have', async () => {
    using lab = labWithProgram();
    await lab.run(['install', ...SUBNET]);
    const open = openSync(join(lab.root, 'bin/heddle-cni'), 'r');
    lab.write('program/heddle-cni', 'program 2');
    assert.equal((await lab.run(['install', ...SUBNET])).exitCode, 0);
    assert.equal(lab.read('bin/heddle-cni'), 'program 2');
    const bytes = Buffer.alloc(20);
    assert.equal(bytes.toString('utf8', 0, readSync(open, bytes)), 'program 1');
  });

  test('shows what it would do, and does not', async () => {
    using lab = labWithProgram();
    const before = listing(lab);
    const directory = join(lab.root, 'not/there');
    const { stdout, exitCode } = await lab.run(['install', '--dry-run', '--dir', directory, ...SUBNET]);
    assert.equal(exitCode, 0);
    assert.match(stdout, /^would create +\S+\/not\/there\/heddle-cni /m);
    assert.deepEqual(listing(lab), before);
    assert.equal(statSync(directory, { throwIfNoEntry: false }), undefined);
  });

  test('leaves what is not its own alone, and everything else with it', async () => {
    using lab = labWithProgram();
    lab.write('bin/bridge', 'another bridge');
    const before = listing(lab);
    const { exitCode, stdout, stderr } = await lab.run(['install', ...SUBNET]);
    assert.deepEqual({ exitCode, stdout }, { exitCode: 3, stdout: '' });
    assert.match(
      stderr,
      /^heddle: in the way, and not heddle's: \S+\/bin\/bridge\n {2}hint: nothing was changed/,
    );
    assert.deepEqual(listing(lab), before);
    const json = (await lab.json(['install', ...SUBNET])) as { inTheWay: readonly string[] };
    assert.deepEqual(json.inTheWay, [join(lab.root, 'bin/bridge')]);
  });

  test('adds no network to others', async () => {
    using lab = labWithProgram();
    lab.write('net.d/87-podman.conflist', '{}');
    lab.write('net.d/README', 'not a network');
    const { stdout } = await lab.run(['install', ...SUBNET]);
    assert.match(
      stdout,
      /^skip +\S+10-heddle\.conflist +there are networks already \(87-podman\.conflist\)/m,
    );
    assert.deepEqual(readdirSync(lab.places.configDir), ['87-podman.conflist', 'README']);
  });

  test('says where it looked when there is no program', async () => {
    using lab = new CliLab();
    const { exitCode, stderr } = await lab.run(['install', ...SUBNET]);
    assert.equal(exitCode, 1);
    assert.match(
      stderr,
      /^heddle: install: there is no heddle-cni in \S+\/program\n {2}hint: make build builds it/,
    );
  });

  test('takes up where a killed one left off', async () => {
    using lab = labWithProgram();
    await lab.run(['install', ...SUBNET]);
    rmSync(join(lab.root, 'bin/bridge'));
    lab.write('bin/.heddle-cni.heddle-draft', 'half a prog');
    symlinkSync('heddle-cni', join(lab.root, 'bin/.bridge.heddle-draft'));
    lab.write('program/heddle-cni', 'program 2');
    assert.equal((await lab.run(['install', ...SUBNET])).exitCode, 0);
    const drafts = readdirSync(lab.places.pluginDir).filter((name) => name.endsWith('draft'));
    assert.deepEqual({ drafts, program: lab.read('bin/heddle-cni') }, { drafts: [], program: 'program 2' });
  });
});

describe('heddle install, around the plugins', () => {
  test('records its version and says what to try next', async () => {
    using lab = labWithProgram();
    const { stdout } = await lab.run(['install', ...SUBNET]);
    assert.ok(stdout.endsWith('\nTry it: heddle run heddle -- ip address\n'), stdout);
    assert.equal(JSON.parse(lab.read('bin/.heddle-install.json')).heddle, HEDDLE_VERSION);
  });

  test('says how to try what was installed elsewhere, and nothing when there is nothing to try', async () => {
    using lab = labWithProgram();
    const at = (name: string) => join(lab.root, name);
    const { stdout } = await lab.run(['install', '--dir', at('b'), '--conf-dir', at('n'), ...SUBNET]);
    assert.ok(
      stdout.includes(`Try it: CNI_PATH=${at('b')} NETCONFPATH=${at('n')} heddle run heddle -- ip`),
      stdout,
    );
    for (const flags of [['--no-network'], ['--dry-run']]) {
      assert.doesNotMatch((await lab.run(['install', ...flags])).stdout, /Try it/);
    }
  });

  test('links the command when that is asked for, and uninstall takes the link away', async () => {
    using lab = labWithProgram();
    const before = listing(lab);
    const flags = ['install', '--link', 'local/bin', ...SUBNET];
    await lab.run(flags);
    assert.equal(listing(lab)['local/bin/heddle'], `-> ${lab.places.command}`);
    assert.match((await lab.run(flags)).stdout, /^keep +\S+local\/bin\/heddle +it leads to /m);
    await lab.run(['uninstall']);
    assert.deepEqual(listing(lab), before);
  });

  test('notes where a runtime of this node looks elsewhere', async () => {
    using lab = labWithProgram();
    const path = lab.write('config.toml', 'bin_dir = "/usr/lib/cni"\nconf_dir = "/elsewhere"\n');
    const notes = [
      `${path}:1: bin_dir leads elsewhere, to /usr/lib/cni; make it "${lab.places.pluginDir}"`,
      `${path}:2: conf_dir leads elsewhere, to /elsewhere; make it "${lab.places.configDir}"`,
    ];
    const { stderr } = await lab.run(['install', ...SUBNET]);
    assert.equal(stderr, notes.map((note) => `heddle: note: ${note}\n`).join(''));
    const json = (await lab.json(['install', '--no-network'])) as { notes: readonly string[] };
    assert.deepEqual(json.notes, notes.slice(0, 1));
  });

  const refused: readonly (readonly [flags: readonly string[], why: RegExp])[] = [
    [
      ['--subnet', '10.1.0.0/16', '--subnet', '10.2.0.0/16'],
      /two IPv4 subnets, 10\.1\.0\.0\/16 and 10\.2\.0\.0\/16/,
    ],
    [['--subnet', 'fd01::/64', '--subnet', 'fd02::/64'], /two IPv6 subnets/],
    [
      ['--subnet', '10.1.0.0/16', '--no-network'],
      /--subnet is for the first network, which --no-network leaves out/,
    ],
  ];
  for (const [flags, why] of refused) {
    test(`refuses ${flags.join(' ')}`, async () => {
      using lab = labWithProgram();
      const before = listing(lab);
      const { exitCode, stderr } = await lab.run(['install', ...flags]);
      assert.equal(exitCode, 2);
      assert.match(stderr, why);
      assert.deepEqual(listing(lab), before);
    });
  }
});

describe('heddle uninstall', () => {
  test('removes all that install put there, and nothing else', async () => {
    using lab = labWithProgram();
    lab.write('bin/dhcp', 'another plugin');
    const before = listing(lab);
    await lab.run(['install', ...SUBNET]);
    const { exitCode, stderr } = await lab.run(['uninstall']);
    assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: '' });
    assert.deepEqual(listing(lab), before);
    assert.deepEqual(await lab.run(['uninstall']), { exitCode: 0, stdout: 'nothing to do\n', stderr: '' });
  });

  test('shows what it would do, and does not', async () => {
    using lab = labWithProgram();
    await lab.run(['install', ...SUBNET]);
    const before = listing(lab);
    const { stdout } = await lab.run(['uninstall', '--dry-run']);
    assert.match(stdout, /^would remove +\S+10-heddle\.conflist +-\n/m);
    assert.deepEqual(listing(lab), before);
  });

  test('leaves a network that somebody has edited, and says so', async () => {
    using lab = labWithProgram();
    await lab.run(['install', ...SUBNET]);
    const path = lab.write('net.d/10-heddle.conflist', '{"name":"mine"}');
    const { exitCode, stderr } = await lab.run(['uninstall']);
    assert.equal(exitCode, 3);
    assert.equal(stderr, `heddle: left alone, because it was changed since it was installed: ${path}\n`);
    assert.equal(lab.read('net.d/10-heddle.conflist'), '{"name":"mine"}');
    assert.deepEqual(readdirSync(lab.places.pluginDir), []);
  });

  test('removes nothing while there are attachments, unless it must', async () => {
    using lab = labWithProgram();
    await lab.run(['install', ...SUBNET]);
    lab.write('net.d/20-noop.conf', { cniVersion: '1.0.0', name: 'n', type: 'noop' });
    lab.stub('noop', `echo '{"cniVersion":"1.0.0"}'`);
    await lab.run(['add', 'n', 'blue']);
    const before = listing(lab);
    for (const flags of [[], ['--purge'], ['--purge', '--force']]) {
      const { exitCode, stderr } = await lab.run(['uninstall', ...flags]);
      assert.equal(exitCode, 3);
      assert.match(
        stderr,
        /^heddle: nothing was removed: 1 attachment is left on this node\n {2}hint: heddle ls/,
      );
    }
    assert.deepEqual(listing(lab), before);
    assert.equal((await lab.run(['uninstall', '--force'])).exitCode, 0);
    assert.deepEqual(readdirSync(lab.places.pluginDir), ['noop']);
  });
});

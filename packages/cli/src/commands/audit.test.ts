/** `heddle audit` as it is typed: what it prints, how it ends, what it changes. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CliLab } from '../testing/cli-lab.ts';

const GOOD = {
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    { type: 'bridge', isDefaultGateway: true, ipam: { type: 'host-local', subnet: '10.1.0.0/16' } },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
};
const WARNING = { ...GOOD, plugins: [{ ...GOOD.plugins[0], isGatway: true }] };
const ERROR = JSON.stringify(GOOD).replace('"10.1.0.0/16"', '"10.1.0.0/16",');

function labWith(content: unknown): CliLab {
  const lab = new CliLab();
  mkdirSync(join(lab.root, 'repo'));
  lab.write('repo/10-pods.conflist', content);
  return lab;
}

describe('heddle audit', () => {
  const ends: readonly (readonly [
    what: string,
    content: unknown,
    args: readonly string[],
    exitCode: number,
  ])[] = [
    ['nothing wrong', GOOD, [], 0],
    ['a warning', WARNING, [], 4],
    ['a warning that does not count', WARNING, ['--fail-on', 'error'], 0],
    ['an error', ERROR, [], 5],
    ['an error, for programs', ERROR, ['--format', 'sarif'], 5],
  ];
  for (const [what, content, args, exitCode] of ends) {
    test(`ends with ${exitCode} for ${what}`, async () => {
      using lab = labWith(content);
      assert.equal((await lab.run(['audit', 'repo', ...args])).exitCode, exitCode);
    });
  }

  test('tells the place, what follows and how to mend it', async () => {
    using lab = labWith(ERROR);
    const { stdout } = await lab.run(['audit', 'repo']);
    assert.match(
      stdout,
      /^\S+repo\/10-pods\.conflist\n {2}error 1:\d+ there is a comma after the last member/m,
    );
    assert.match(stdout, /to mend: Remove the comma\./);
    assert.match(stdout, /2 errors.* \(1 file in \S+repo\), 1 can be mended with --fix\n$/);
  });

  test('prints each format, with paths relative to the working directory for tools', async () => {
    using lab = labWith(ERROR);
    const github = await lab.run(['audit', 'repo', '--format', 'github']);
    assert.match(
      github.stdout,
      /^::error file=repo\/10-pods\.conflist,line=1,col=\d+,title=syntax\/trailing-comma::/m,
    );
    const sarif = JSON.parse((await lab.run(['audit', 'repo', '--format', 'sarif'])).stdout);
    const [{ locations }] = sarif.runs[0].results;
    assert.equal(locations[0].physicalLocation.artifactLocation.uri, 'repo/10-pods.conflist');
    const json = (await lab.json(['audit', 'repo'])) as { findings: readonly { id: string }[] };
    assert.ok(json.findings.some(({ id }) => id === 'syntax/trailing-comma'));
  });

  test('refuses a path that is not there: a typing error is no clean audit', async () => {
    using lab = labWith(GOOD);
    const { exitCode, stderr } = await lab.run(['audit', 'rep']);
    assert.equal(exitCode, 1);
    assert.match(stderr, /^heddle: there is no \S+\/rep\n/);
    const empty = await lab.run(['audit', '', '--fix']);
    assert.deepEqual([empty.exitCode, empty.stdout], [2, '']);
    assert.match(empty.stderr, /audit: a path is empty/);
  });

  test('takes what the files do not say', async () => {
    using lab = labWith(GOOD);
    const flags = ['--service-cidr', '10.1.0.0/20', '--node-address', '10.1.9.9', '--max-pods', '100000'];
    const { stdout } = await lab.run(['audit', 'repo', ...flags]);
    for (const id of ['overlap/services', 'overlap/nodes', 'address/fewer-than-pods'])
      assert.ok(stdout.includes(id), id);
    const bad = await lab.run(['audit', 'repo', '--service-cidr', '10.1.0.0']);
    assert.equal(bad.exitCode, 2);
  });
});

describe('heddle audit --fix', () => {
  test('shows the diff, mends, and tells what is left', async () => {
    using lab = labWith(ERROR);
    const { stdout, exitCode } = await lab.run(['audit', 'repo', '--fix']);
    assert.match(stdout, /^--- \S+10-pods\.conflist$/m);
    assert.match(stdout, /nothing found \(1 file in \S+repo\)\n$/);
    assert.equal(exitCode, 0);
    assert.deepEqual(JSON.parse(lab.read('repo/10-pods.conflist')), GOOD);
    const again = await lab.run(['audit', 'repo', '--fix']);
    assert.doesNotMatch(again.stdout, /^---/m);
  });

  test('changes nothing with --dry-run', async () => {
    using lab = labWith(ERROR);
    const { stdout, exitCode } = await lab.run(['audit', 'repo', '--fix', '--dry-run']);
    assert.match(stdout, /^--- /m);
    assert.equal(exitCode, 5);
    assert.equal(lab.read('repo/10-pods.conflist'), ERROR);
  });

  test('goes on with a file that it has renamed', async () => {
    using lab = labWith(GOOD);
    const path = lab.write('repo/20-x.conf', { ...GOOD, name: 'x' });
    const { stdout, exitCode } = await lab.run(['audit', path, '--fix']);
    assert.equal(exitCode, 0, stdout);
    assert.ok(existsSync(`${path}list`) && !existsSync(path));
  });

  test('keeps the diff out of what a program reads', async () => {
    using lab = labWith(ERROR);
    const { stdout, stderr } = await lab.run(['audit', 'repo', '--fix', '-o', 'json']);
    assert.deepEqual(JSON.parse(stdout).findings, []);
    assert.match(stderr, /^--- /m);
  });
});

describe('a silencing file', () => {
  const silenced = '{ "silence": [{ "id": "schema/unknown-member", "reason": "ours reads it" }] }';

  test('keeps a finding from being told, and from the exit code', async () => {
    using lab = labWith(WARNING);
    lab.write('quiet.jsonc', silenced);
    const { exitCode, stdout } = await lab.run(['audit', 'repo', '--silence', 'quiet.jsonc']);
    assert.equal(exitCode, 0);
    assert.match(stdout, /nothing found .*, 1 silenced/);
    lab.write('silence.jsonc', silenced);
    assert.equal((await lab.run(['audit', 'repo'])).exitCode, 0, 'the usual place');
  });

  test('without a reason is refused', async () => {
    using lab = labWith(WARNING);
    lab.write('quiet.jsonc', '{ "silence": [{ "id": "schema/unknown-member" }] }');
    const { exitCode, stderr } = await lab.run(['audit', 'repo', '--silence', 'quiet.jsonc']);
    assert.equal(exitCode, 1);
    assert.match(stderr, /quiet\.jsonc:1:15: schema\/unknown-member is silenced without a reason/);
  });

  test('that is named and not there is refused', async () => {
    using lab = labWith(WARNING);
    assert.match(
      (await lab.run(['audit', 'repo', '--silence', 'no'])).stderr,
      /cannot read \S+\/no: there is no such file/,
    );
  });
});

describe('heddle audit rules', () => {
  test('lists the rules, and explains one', async () => {
    using lab = new CliLab();
    const { stdout } = await lab.run(['audit', 'rules']);
    assert.match(stdout, /^RULE +SEVERITY +FIX +WHAT\n/);
    assert.match(stdout, /^syntax\/trailing-comma +error +yes +A comma after the last member$/m);
    const one = await lab.run(['audit', 'rules', 'selection/which-file']);
    assert.match(one.stdout, /^selection\/which-file: .* \(note\)\n\ncontainerd takes the first file/);
    const none = await lab.run(['audit', 'rules', 'selection/wich-file']);
    assert.equal(none.exitCode, 2);
    assert.match(none.stderr, /did you mean "selection\/which-file"\?/);
  });
});

describe('this node', () => {
  test('is looked at when nothing is named: plugins that are missing, broken, or too old', async () => {
    using lab = new CliLab();
    lab.write('net.d/10-pods.conflist', GOOD);
    lab.stub('bridge', `echo '{"cniVersion":"0.4.0","supportedVersions":["0.3.1","0.4.0"]}'`);
    symlinkSync('/nonexistent', join(lab.places.pluginDir, 'portmap'));
    const { stdout, exitCode } = await lab.run(['audit']);
    assert.equal(exitCode, 5);
    assert.match(stdout, /bridge as installed cannot speak version 1\.0\.0/);
    assert.match(stdout, /Set "cniVersion" to "0\.4\.0"/);
    assert.match(stdout, /portmap cannot be started: \S+portmap is a broken link/);
    assert.match(stdout, /host-local is not installed/);
    assert.match(lab.calls().join('\n'), /^bridge VERSION/);
  });

  test('has its plugins wherever runtimes look for them', async () => {
    using lab = new CliLab();
    lab.write('net.d/10-pods.conflist', {
      ...GOOD,
      plugins: [{ type: 'bridge' }, { type: 'tuning' }, { type: 'sbr' }],
    });
    for (const [directory, type] of [
      ['other-bin', 'bridge'],
      ['crio', 'tuning'],
    ] as const) {
      mkdirSync(join(lab.root, directory), { recursive: true });
      lab.write(
        `${directory}/${type}`,
        `#!/bin/sh\necho '{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}'\n`,
      );
      chmodSync(join(lab.root, directory, type), 0o755);
    }
    lab.write('config.toml', `bin_dirs = ["${lab.root}/crio"]\n`);
    assert.match((await lab.run(['audit'])).stdout, /error 1:\d+ sbr is not installed/);
    const only = await lab.run(['audit'], { CNI_PATH: lab.places.pluginDir });
    assert.match(only.stdout, /bridge, tuning, sbr are not installed/);
  });

  test('is not looked at for files of somewhere else', async () => {
    using lab = labWith(GOOD);
    assert.equal((await lab.run(['audit', 'repo'])).exitCode, 0);
    assert.match(
      (await lab.run(['audit', 'repo', '--node'])).stdout,
      /bridge, host-local, portmap are not installed/,
    );
    assert.equal(readFileSync(join(lab.root, 'repo/10-pods.conflist'), 'utf8'), JSON.stringify(GOOD));
  });
});

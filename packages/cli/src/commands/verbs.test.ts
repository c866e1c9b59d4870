/** The verbs of CNI against plugins that are shell scripts: what reaches them, and what comes back. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { containerIdOf } from '../request/sandbox.ts';
import { ANSWERS, labWith, NETWORK, RESULT } from '../testing/noop-network.ts';

describe('heddle add, check, del', () => {
  test('call the plugins as cnitool does, and print what cnitool prints', async () => {
    using lab = labWith();
    const netns = `${lab.places.netnsDir}/blue`;
    const id = containerIdOf(netns);
    const env = { CNI_ARGS: 'K=v' };
    const added = await lab.run(['add', 'podnet', 'blue'], env);
    assert.deepEqual(added, {
      exitCode: 0,
      stdout: JSON.stringify(JSON.parse(RESULT), null, 4),
      stderr: '',
    });
    const silent = { exitCode: 0, stdout: '', stderr: '' };
    assert.deepEqual(await lab.run(['check', 'podnet', 'blue'], env), silent);
    assert.deepEqual(await lab.run(['del', 'podnet', 'blue'], env), silent);
    assert.deepEqual(
      lab.calls(),
      ['ADD', 'CHECK', 'DEL'].map((command) => `noop ${command} ${id} ${netns} eth0 K=v`),
    );
  });

  test('end what they print with a line for a terminal only', async () => {
    using lab = labWith();
    lab.isTerminal = true;
    const { stdout } = await lab.run(['add', 'podnet', 'blue']);
    assert.equal(stdout, `${JSON.stringify(JSON.parse(RESULT), null, 4)}\n`);
  });

  test('take interface and container from flags', async () => {
    using lab = labWith();
    await lab.run(['add', 'podnet', './blue', '-i', 'net1', '--container-id', 'c1']);
    assert.deepEqual(lab.calls(), [`noop ADD c1 ${lab.root}/blue net1`]);
  });

  test('hand capability arguments to plugins that declare them', async () => {
    using lab = labWith(`[ $CNI_COMMAND = ADD ] && printf %s "$stdin" > "${'$'}{0%/*}/../stdin"\n${ANSWERS}`);
    const plugins = [{ type: 'noop', capabilities: { portMappings: true } }];
    lab.write('net.d/10-podnet.conflist', { ...NETWORK, plugins });
    const portMappings = [{ hostPort: 8080, containerPort: 80 }];
    await lab.run(['add', 'podnet', 'blue'], { CAP_ARGS: JSON.stringify({ portMappings, mac: 'x' }) });
    assert.deepEqual(JSON.parse(lab.read('stdin')).runtimeConfig, { portMappings });
  });

  test('tell programs what was done', async () => {
    using lab = labWith();
    await lab.run(['add', 'podnet', 'blue']);
    const netns = `${lab.places.netnsDir}/blue`;
    const told = { network: 'podnet', containerID: containerIdOf(netns), ifName: 'eth0', netns };
    assert.deepEqual(await lab.json(['check', 'podnet', 'blue']), told);
    assert.deepEqual(await lab.json(['del', 'podnet', 'blue']), told);
  });

  test('say which plugin failed, with its own words and code, and undo a failed add', async () => {
    const failing = `[ $CNI_COMMAND = ADD ] || exit 0\necho '{"code":11,"msg":"no room","details":"10 of 10"}'; exit 1`;
    using lab = labWith(failing);
    const { exitCode, stdout, stderr } = await lab.run(['add', 'podnet', 'blue', '-o', 'json']);
    assert.equal(exitCode, 1);
    assert.equal(stderr, 'heddle: plugin type="noop" failed (add): no room; 10 of 10\n');
    assert.equal(JSON.parse(stdout).error.cniCode, 11);
    assert.deepEqual(
      lab.calls().map((call) => call.split(' ')[1]),
      ['ADD', 'DEL'],
    );
  });

  test('pass on what a plugin says on stderr', async () => {
    using lab = labWith(`echo careful >&2\n${ANSWERS}`);
    assert.equal((await lab.run(['add', 'podnet', 'blue'])).stderr, 'careful\n');
  });

  test('refuse a second add, and say what comes first', async () => {
    using lab = labWith();
    await lab.run(['add', 'podnet', 'pod1']);
    const { exitCode, stdout, stderr } = await lab.run(['add', 'podnet', 'pod1']);
    assert.deepEqual({ exitCode, stdout }, { exitCode: 1, stdout: '' });
    assert.equal(stderr, 'heddle: pod1 has an eth0 on podnet already; heddle del podnet pod1 first\n');
    assert.equal((await lab.run(['add', 'podnet', 'pod1', '-i', 'net1'])).exitCode, 0);
    const again = await lab.run(['add', 'podnet', 'pod1', '-i', 'net1']);
    assert.match(again.stderr, /pod1 has a net1 on podnet already; heddle del podnet pod1 -i net1 first/);
    assert.equal(lab.calls().length, 2);
  });

  test('check nothing that is not attached', async () => {
    using lab = labWith();
    const { exitCode, stderr } = await lab.run(['check', 'podnet', 'pod1']);
    assert.equal(exitCode, 1);
    assert.equal(stderr, 'heddle: pod1 is not attached to podnet\n  hint: heddle ls podnet shows who is\n');
    assert.deepEqual(lab.calls(), []);
  });

  test('say how plugins pass over arguments that they do not know', async () => {
    const refusal = `{"code":4,"msg":"ARGS: unknown args [\\"FOO=bar\\"]"}`;
    using lab = labWith(
      `[ $CNI_COMMAND = ADD ] && { echo '${refusal}'; exit 1; }\necho 'noop: ARGS: unknown args ["FOO=bar"]' >&2`,
    );
    const { stderr } = await lab.run(['add', 'podnet', 'blue'], { CNI_ARGS: 'FOO=bar' });
    assert.equal(
      stderr,
      'heddle: plugin type="noop" failed (add): ARGS: unknown args ["FOO=bar"]\n' +
        '  hint: IgnoreUnknown=1 in CNI_ARGS lets plugins pass over what they do not know\n',
    );
  });

  test('say who may do it when it was not allowed', async () => {
    using lab = labWith(`echo '{"code":5,"msg":"create link: EPERM"}'; exit 1`);
    assert.doesNotMatch((await lab.run(['add', 'podnet', 'blue'])).stderr, /root/);
    lab.isRoot = false;
    const { stderr, stdout } = await lab.run(['add', 'podnet', 'blue', '-o', 'json']);
    assert.match(stderr, /EPERM\n {2}hint: this needs root\n$/);
    assert.deepEqual(JSON.parse(stdout).error.hints, ['this needs root']);
  });

  test('delete what was added though its network is gone', async () => {
    using lab = labWith();
    await lab.run(['add', 'podnet', 'blue']);
    lab.write('net.d/10-podnet.conflist', { ...NETWORK, name: 'other' });
    assert.equal((await lab.run(['del', 'podnet', 'blue'])).exitCode, 0);
    assert.equal(lab.calls().length, 2);
  });

  test('do not delete from a network that never was', async () => {
    using lab = labWith();
    const { exitCode, stderr } = await lab.run(['del', 'podnte', 'blue']);
    assert.equal(exitCode, 1);
    assert.match(stderr, /^heddle: no net configuration with name "podnte" in /);
  });

  test('name file, line and column of a broken network, and pass over one that nobody asked for', async () => {
    using lab = labWith();
    const path = lab.write('net.d/00-broken.conflist', '{\n  "name": "broken",\n  "plugins": [}\n');
    const { exitCode, stderr } = await lab.run(['add', 'podnet', 'blue']);
    assert.equal(exitCode, 0);
    assert.ok(stderr.startsWith(`heddle: warning: passed over: ${path}:3:15: `), stderr);
    const missing = await lab.run(['add', 'broken', 'blue']);
    assert.equal(missing.exitCode, 1);
    assert.ok(missing.stderr.includes(`  hint: not looked into: ${path}:3:15: `), missing.stderr);
  });
});

describe('heddle status', () => {
  test('is silent when all plugins are ready, and does not look at a namespace', async () => {
    using lab = labWith();
    assert.deepEqual(await lab.run(['status', 'podnet', 'blue']), { exitCode: 0, stdout: '', stderr: '' });
    assert.deepEqual(await lab.json(['status', 'podnet']), { network: 'podnet', ready: true });
  });

  test('of an older version looks for the plugins, and asks for their versions', async () => {
    using lab = labWith();
    const plugins = [{ type: 'noop', ipam: { type: 'missing' } }];
    lab.write('net.d/10-podnet.conflist', { ...NETWORK, cniVersion: '1.0.0', plugins });
    assert.match((await lab.run(['status', 'podnet'])).stderr, /failed to find plugin "missing"/);
    lab.stub('missing', ANSWERS);
    assert.deepEqual(await lab.run(['status', 'podnet']), { exitCode: 0, stdout: '', stderr: '' });
    lab.write('net.d/10-podnet.conflist', { ...NETWORK, cniVersion: '0.4.0', plugins });
    const { exitCode, stderr } = await lab.run(['status', 'podnet']);
    assert.equal(exitCode, 1);
    assert.match(stderr, /plugin noop does not support config version "0\.4\.0"/);
  });

  test('tells why a plugin is not', async () => {
    using lab = labWith(`echo '{"code":50,"msg":"no daemon"}'; exit 1`);
    const { exitCode, stderr } = await lab.run(['status', 'podnet']);
    assert.equal(exitCode, 1);
    assert.equal(stderr, 'heddle: no daemon\n');
  });
});

describe('heddle version', () => {
  test('shows what the plugins of a network speak, address management included', async () => {
    using lab = labWith();
    lab.stub('addresses', ANSWERS);
    const plugins = [{ type: 'noop', ipam: { type: 'addresses' } }];
    lab.write('net.d/10-podnet.conflist', { ...NETWORK, plugins });
    const { exitCode, stdout } = await lab.run(['version', 'podnet']);
    assert.equal(exitCode, 0);
    assert.equal(
      stdout,
      'PLUGIN      SPEAKS        FITS   PATH\n' +
        `noop        1.0.0 1.1.0   yes    ${lab.places.pluginDir}/noop\n` +
        `addresses   1.0.0 1.1.0   yes    ${lab.places.pluginDir}/addresses\n`,
    );
  });

  test('fails when one does not speak the version of the network, or is not there', async () => {
    using lab = labWith();
    lab.write('net.d/10-podnet.conflist', {
      ...NETWORK,
      cniVersion: '0.4.0',
      plugins: [{ type: 'noop' }, { type: 'no' }],
    });
    const { exitCode, stdout } = await lab.run(['version', 'podnet', '-o', 'json']);
    assert.equal(exitCode, 1);
    const { plugins } = JSON.parse(stdout);
    assert.deepEqual(
      plugins.map(({ type, speaksNetwork, path }: Record<string, unknown>) => [
        type,
        speaksNetwork,
        path === null,
      ]),
      [
        ['noop', false, false],
        ['no', false, true],
      ],
    );
    assert.match(plugins[1].problem, /failed to find plugin "no"/);
  });
});

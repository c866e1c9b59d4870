import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { COMMANDS } from './commands/index.ts';
import { CliLab } from './testing/cli-lab.ts';
import { HEDDLE_VERSION } from './version.ts';

describe('the command line', () => {
  test('without arguments lists every command and succeeds', async () => {
    using lab = new CliLab();
    const { exitCode, stdout, stderr } = await lab.run([]);
    assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: '' });
    for (const { lesson } of COMMANDS) {
      assert.match(stdout, new RegExp(`^  ${lesson.name} +${lesson.brief.slice(0, 20)}`, 'm'));
    }
  });

  test('explains every command in three ways, with its flags and examples', async () => {
    using lab = new CliLab();
    for (const { lesson } of COMMANDS) {
      const { exitCode, stdout } = await lab.run([lesson.name, '--help']);
      assert.equal(exitCode, 0);
      assert.match(stdout, new RegExp(`^usage: heddle ${lesson.name}`, 'm'));
      assert.match(stdout, /-o, --output format/);
      for (const { command } of lesson.examples) assert.ok(stdout.includes(`  ${command}\n`), command);
      assert.deepEqual(await lab.run(['help', lesson.name]), { exitCode, stdout, stderr: '' });
      assert.deepEqual(await lab.run([lesson.name, '-h']), { exitCode, stdout, stderr: '' });
    }
  });

  test('fits help into a hundred columns, but for examples', async () => {
    using lab = new CliLab();
    for (const args of [[], ...COMMANDS.map(({ lesson }) => ['help', lesson.name])]) {
      const { stdout } = await lab.run(args);
      const prose = stdout.slice(0, stdout.indexOf('\nExamples\n'));
      for (const line of prose.split('\n')) assert.ok(line.length <= 100, line);
    }
  });

  test('says its version', async () => {
    using lab = new CliLab();
    const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    assert.equal(HEDDLE_VERSION, manifest.version);
    assert.equal((await lab.run(['--version'])).stdout, `${HEDDLE_VERSION}\n`);
  });

  const misunderstood: readonly (readonly [args: readonly string[], expected: RegExp])[] = [
    [
      ['lss'],
      /^heddle: there is no command "lss"; did you mean `ls`\?\n {2}hint: heddle --help shows how\n$/,
    ],
    [['ls', '--bogus'], /^heddle: no flag registered for --bogus\n {2}hint: heddle ls --help shows how\n$/],
    [['add', 'podnet'], /^heddle: expected argument for netns\n/],
    [['add', 'podnet', 'blue', 'more'], /^heddle: too many arguments/],
    [['del'], /^heddle: expected argument for network\n/],
    [['run', 'podnet'], /^heddle: run: say a command after --\n {2}hint: heddle run podnet -- ip address\n$/],
    [['run'], /^heddle: run: say a network, and a command after --\n/],
    [['ls', '-o', 'yaml'], /^heddle: expected "yaml" to be one of/],
    [['install', '--subnet', '10.0.0.0'], /^heddle: failed to parse "10\.0\.0\.0" for subnet: /],
  ];
  for (const [args, expected] of misunderstood) {
    test(`does not understand: heddle ${args.join(' ')}`, async () => {
      using lab = new CliLab();
      const { exitCode, stdout, stderr } = await lab.run(args);
      assert.deepEqual({ exitCode, stdout }, { exitCode: 2, stdout: '' });
      assert.match(stderr, expected);
    });
  }

  test('takes the flags that all commands have before the command as well', async () => {
    using lab = new CliLab();
    assert.deepEqual(JSON.parse((await lab.run(['-o', 'json', 'ls'])).stdout), { attachments: [] });
    assert.deepEqual(await lab.run(['--debug', '--output=text', 'ls']), {
      exitCode: 0,
      stdout: 'no attachments\n',
      stderr: '',
    });
  });

  test('tells programs what is wrong with a command line', async () => {
    using lab = new CliLab();
    for (const args of [
      ['add', 'podnet', '-o', 'json'],
      ['-o', 'json', 'add', 'podnet'],
    ]) {
      const { exitCode, stdout, stderr } = await lab.run(args);
      assert.equal(exitCode, 2);
      assert.match(stderr, /^heddle: expected argument for netns\n/);
      assert.partialDeepStrictEqual(JSON.parse(stdout).error, {
        code: 'COMMAND_FAILED',
        message: 'expected argument for netns',
        hints: ['heddle add --help shows how'],
      });
    }
    assert.equal((await lab.run(['run', '--bogus', '-o', 'json'])).stdout, '');
  });
});

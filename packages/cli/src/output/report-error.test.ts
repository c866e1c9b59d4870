import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConfigError, UsageError } from '@heddle/cni';
import { ErrorList } from '@heddle/errors';
import { CliLab } from '../testing/cli-lab.ts';
import { CommandError, errorJson, errorText, reportError } from './report-error.ts';

describe('a failure', () => {
  test('is told with what can be done about it, wherever that was known', () => {
    const cause = new UsageError('inner', { hint: 'try this' });
    const error = new CommandError(9, 'outer: inner', { cause, hint: 'or that' });
    assert.equal(errorText(error), 'heddle: outer: inner\n  hint: or that\n  hint: try this\n');
  });

  test('of several gets a line for each', () => {
    const list = new ErrorList('delete', [new UsageError('one'), new UsageError('two')]);
    assert.equal(errorText(list), 'heddle: one\nheddle: two\n');
    assert.deepEqual(errorJson(list).errors, ['one', 'two']);
    assert.equal(errorJson(list).message, 'delete: one; two');
  });

  test('names file, line and column of a configuration', () => {
    const error = new ConfigError('no name', { file: '/etc/cni/net.d/10-a.conflist', line: 3, column: 5 });
    assert.equal(errorText(error), 'heddle: /etc/cni/net.d/10-a.conflist:3:5: no name\n');
    assert.equal(errorJson(error).cniCode, 7);
  });

  test('has no stack unless that was asked for', () => {
    const printed = (debug: boolean) => {
      const parts: string[] = [];
      const sink = { write: (text: string) => void parts.push(text), isTerminal: false, isStyled: false };
      reportError(
        { stdout: sink, stderr: sink, isRoot: true },
        new Error('oops', { cause: new Error('below') }),
        {
          format: 'text',
          debug,
        },
      );
      return parts.join('');
    };
    assert.equal(printed(false), 'heddle: oops\n');
    assert.match(printed(true), /at .*report-error\.test\.ts[\s\S]*caused by Error: below/);
  });

  test('is an object on stdout for programs, beside the text on stderr', async () => {
    using lab = new CliLab();
    const { exitCode, stdout, stderr } = await lab.run(['add', 'podnet', 'blue', '-o', 'json']);
    assert.equal(exitCode, 1);
    assert.match(stderr, /^heddle: no net configurations found in /);
    const { error } = JSON.parse(stdout);
    assert.deepEqual(Object.keys(error), ['code', 'cniCode', 'message', 'hints', 'errors']);
    assert.equal(error.code, 'NETWORK_NOT_FOUND');
  });
});

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { commandLine } from './command-line.ts';

test('a command line is for a shell what its words were, whatever is in them', () => {
  const words = ['veth1', 'a b', '$(reboot)', "it's", ';', '', '10.1.0.0/16', '--net=/run/netns/x', 'ä*?'];
  const line = commandLine('printf', '%s\\n', ...words);
  assert.equal(execFileSync('sh', ['-c', line], { encoding: 'utf8' }), `${words.join('\n')}\n`);
});

test('what needs no quotes has none', () => {
  assert.equal(commandLine('ip', 'link', 'set', 'veth1', 'mtu', 1400), 'ip link set veth1 mtu 1400');
});

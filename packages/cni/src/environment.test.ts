import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS, knownCommand, readEnvironment } from './environment.ts';

const full = {
  CNI_COMMAND: 'ADD',
  CNI_CONTAINERID: 'c1',
  CNI_NETNS: '/run/netns/x',
  CNI_IFNAME: 'eth0',
  CNI_ARGS: 'A=1',
  CNI_PATH: '/opt/cni/bin::/usr/lib/cni:',
};

test('a complete environment is read', () => {
  assert.deepEqual(readEnvironment(full), {
    command: 'ADD',
    containerID: 'c1',
    netns: '/run/netns/x',
    ifName: 'eth0',
    args: 'A=1',
    path: ['/opt/cni/bin', '/usr/lib/cni'],
    netnsOverride: false,
  });
});

test('what is missing depends on the command', () => {
  const missing = {
    ADD: 'CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH',
    CHECK: 'CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH',
    DEL: 'CNI_CONTAINERID,CNI_IFNAME,CNI_PATH',
    GC: 'CNI_PATH',
    STATUS: 'CNI_PATH',
  };
  for (const [command, names] of Object.entries(missing)) {
    assert.throws(() => readEnvironment({ CNI_COMMAND: command }), {
      cniCode: 4,
      code: 'ENV_MISSING',
      message: `required env variables [${names}] missing`,
    });
  }
  assert.equal(readEnvironment({ CNI_COMMAND: 'VERSION' }).command, 'VERSION');
});

test('empty counts as missing; without a command only the command is missing', () => {
  assert.throws(() => readEnvironment({}), { message: 'required env variables [CNI_COMMAND] missing' });
  const env = { ...full, CNI_NETNS: '', CNI_IFNAME: '' };
  assert.throws(() => readEnvironment(env), {
    message: 'required env variables [CNI_NETNS,CNI_IFNAME] missing',
  });
});

test('a value that is not valid is reported at once, before what is missing', () => {
  const env = { CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'a/b' };
  assert.throws(() => readEnvironment(env), { cniCode: 4, msg: 'invalid characters in containerID' });
  assert.throws(() => readEnvironment({ ...full, CNI_IFNAME: '..' }), { msg: 'interface name is . or ..' });
});

test('values that a command does not need are not looked at', () => {
  const env = {
    CNI_COMMAND: 'GC',
    CNI_PATH: '/p',
    CNI_CONTAINERID: 'a/b',
    CNI_IFNAME: 'far too long for a name',
  };
  assert.equal(readEnvironment(env).containerID, 'a/b');
});

test('the namespace override is 1 or true in any letter case', () => {
  for (const [value, override] of [
    ['1', true],
    ['TRUE', true],
    ['true', true],
    ['0', false],
    ['yes', false],
  ] as const) {
    assert.equal(readEnvironment({ ...full, CNI_NETNS_OVERRIDE: value }).netnsOverride, override);
  }
});

test('commands are exact', () => {
  for (const command of COMMANDS) assert.equal(knownCommand(command), command);
  for (const command of ['add', 'FOO', '']) {
    assert.throws(() => knownCommand(command), { cniCode: 4, message: `unknown CNI_COMMAND: ${command}` });
  }
  assert.equal(readEnvironment({ CNI_COMMAND: 'FOO' }).command, 'FOO', 'the configuration is checked first');
});

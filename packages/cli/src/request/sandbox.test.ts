import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEFAULT_PLACES, type Surroundings } from '../surroundings.ts';
import { attachmentOf, containerIdOf, netnsPath } from './sandbox.ts';

const PLACES = { ...DEFAULT_PLACES, programDirs: [] };

function surroundings(env: Readonly<Record<string, string>> = {}): Surroundings {
  return { env, cwd: '/home/me', places: PLACES } as unknown as Surroundings;
}

describe('a namespace on the command line', () => {
  const paths: readonly (readonly [argument: string, path: string])[] = [
    ['blue', '/run/netns/blue'],
    ['./blue', '/home/me/blue'],
    ['/var/run/netns/blue', '/var/run/netns/blue'],
    ['/proc/1/ns/../ns/net', '/proc/1/ns/net'],
    ['sub/blue', '/home/me/sub/blue'],
  ];
  for (const [argument, path] of paths) {
    test(`${argument} is ${path}`, () => assert.equal(netnsPath(surroundings(), argument), path));
  }

  test('gives the container ID that cnitool derives from its path', () => {
    // printf %s /var/run/netns/testing | sha512sum | cut -c1-20
    assert.equal(containerIdOf('/var/run/netns/testing'), 'cnitool-77383ca0a0715733ca6f');
  });
});

describe('the environment of a call', () => {
  test('is that of cnitool', () => {
    const env = {
      CNI_IFNAME: 'net1',
      CNI_ARGS: 'A=1;B=2',
      CAP_ARGS: '{"portMappings":[{"hostPort":8080,"containerPort":80}]}',
    };
    assert.deepEqual(attachmentOf(surroundings(env), 'blue', {}), {
      containerID: containerIdOf('/run/netns/blue'),
      netns: '/run/netns/blue',
      ifName: 'net1',
      args: [
        ['A', '1'],
        ['B', '2'],
      ],
      capabilityArgs: { portMappings: [{ hostPort: 8080, containerPort: 80 }] },
    });
  });

  test('gives way to flags', () => {
    const flags = { ifname: 'eth7', containerId: 'c1' };
    const { ifName, containerID } = attachmentOf(surroundings({ CNI_IFNAME: 'net1' }), 'blue', flags);
    assert.deepEqual({ ifName, containerID }, { ifName: 'eth7', containerID: 'c1' });
  });

  const refused: readonly (readonly [env: Readonly<Record<string, string>>, message: RegExp])[] = [
    [{ CNI_ARGS: 'A=1;' }, /ARGS: invalid pair ""/],
    [{ CNI_ARGS: 'A=1=2' }, /invalid pair/],
    [{ CNI_ARGS: '=1' }, /the pair "=1" lacks its key or its value/],
    [{ CNI_ARGS: 'A=' }, /the pair "A=" lacks its key or its value/],
    [{ CAP_ARGS: '[]' }, /CAP_ARGS must be a JSON object/],
    [{ CAP_ARGS: '{' }, /read CAP_ARGS: /],
  ];
  for (const [env, message] of refused) {
    test(`refuses ${JSON.stringify(env)}`, () => {
      assert.throws(() => attachmentOf(surroundings(env), 'blue', {}), { message });
    });
  }
});

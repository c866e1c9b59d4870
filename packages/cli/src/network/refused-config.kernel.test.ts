/** Configurations that plugins refuse are told with their place in the file. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { KernelLab } from '../testing/kernel-lab.ts';

/** @param bridge lines of the plugin's object, the first of which is line 6 */
function conflist(bridge: string, ipam: string): string {
  return `{
  "cniVersion": "1.1.0",
  "name": "bad",
  "plugins": [{
    "type": "bridge",
    ${bridge}
    "ipam": { "type": "host-local",
      ${ipam}
    }
  }]
}
`;
}

const SUBNET = '"subnet": "10.47.0.0/24"';
const refused: readonly (readonly [bridge: string, ipam: string, place: string, why: RegExp])[] = [
  [
    '"mtu": "big",',
    SUBNET,
    '6:12',
    /bridge configuration: mtu: expected an integer from 0 to 65535, got "big"/,
  ],
  [
    '"bridge": "much-too-long-name",',
    SUBNET,
    '6:15',
    /bridge: expected the name of a link, of at most 15 bytes/,
  ],
  [
    '"hairpinMode": true, "promiscMode": true,',
    SUBNET,
    '6:20',
    /hairpinMode and promiscMode exclude each other/,
  ],
  ['"bridge": "hdbad0",', '"subnet": 7', '8:17', /subnet: expected a string, got 7/],
  [
    '"bridge": "hdbad0",',
    `${SUBNET},\n"rangeStart": "10.9.9.9"`,
    '9:15',
    /RangeStart 10\.9\.9\.9 not in network/,
  ],
];

describe('a plugin that refuses its configuration', () => {
  for (const [bridge, ipam, place, why] of refused) {
    test(`is told with the place: ${why.source}`, async () => {
      using lab = new KernelLab();
      const path = lab.write('net.d/20-bad.conflist', conflist(bridge, ipam));
      const { exitCode, stdout, stderr } = await lab.inProcess(['run', 'bad', '--', 'true']);
      assert.deepEqual({ exitCode, stdout }, { exitCode: 125, stdout: '' });
      assert.ok(stderr.startsWith(`heddle: ${path}:${place}: plugin type="bridge" failed (add): `), stderr);
      assert.match(stderr, why);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
      assert.deepEqual(lab.leftovers(), []);
    });
  }

  test('is told without one when the file is not known to have it', async () => {
    using lab = new KernelLab();
    lab.write('net.d/20-bad.conflist', { cniVersion: '1.1.0', name: 'bad', plugins: [{ type: 'stub' }] });
    lab.stub('stub', `echo '{"code":5,"msg":"mtu is odd"}'; exit 1`);
    const { stderr } = await lab.run(['add', 'bad', join(lab.root, 'netns/hdx')]);
    assert.equal(stderr, 'heddle: plugin type="stub" failed (add): mtu is odd\n');
  });
});

/** What `gc` frees and keeps, and what it says of that. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { CliLab } from '../testing/cli-lab.ts';
import { ANSWERS, labWith } from '../testing/noop-network.ts';

describe('heddle gc', () => {
  async function labWithTwo(): Promise<CliLab> {
    const lab = labWith();
    await lab.run(['add', 'podnet', '/proc/self/ns/net', '--container-id', 'live']);
    await lab.run(['add', 'podnet', 'gone', '--container-id', 'dead']);
    return lab;
  }

  test('frees everything, as cnitool does', async () => {
    using lab = await labWithTwo();
    const { kept, freed } = (await lab.json(['gc', 'podnet'])) as Record<string, object[]>;
    const ips = ['192.0.2.5/24'];
    assert.deepEqual(kept, []);
    assert.deepEqual(freed, [
      { containerID: 'dead', ifName: 'eth0', ips },
      { containerID: 'live', ifName: 'eth0', ips },
    ]);
  });

  test('says what it freed', async () => {
    using lab = await labWithTwo();
    const { stdout } = await lab.run(['gc', 'podnet']);
    const lines = ['dead', 'live'].map((id) => `  ${id}/eth0 192.0.2.5/24\n`).join('');
    assert.equal(stdout, `freed 2 attachments on podnet:\n${lines}`);
    assert.equal((await lab.run(['gc', 'podnet'])).stdout, 'freed nothing on podnet\n');
  });

  test('says what plugins freed that no cache knew', async () => {
    using lab = await labWithTwo();
    mkdirSync(`${lab.places.reservationDir}/podnet`, { recursive: true });
    const path = lab.write('cache/networks/podnet/192.0.2.9', 'old\r\neth0');
    lab.stub('noop', `[ $CNI_COMMAND = GC ] && rm -f '${path}'\n${ANSWERS}`);
    const { freed } = (await lab.json(['gc', 'podnet', '--keep', 'dead', '--keep', 'live'])) as {
      freed: object[];
    };
    assert.deepEqual(freed, [{ containerID: 'old', ifName: 'eth0', ips: ['192.0.2.9'] }]);
  });

  test('keeps what has a namespace when that is asked for', async () => {
    using lab = await labWithTwo();
    const { kept, freed } = (await lab.json(['gc', 'podnet', '--keep-live'])) as Record<
      string,
      { containerID: string }[]
    >;
    assert.deepEqual(
      kept?.map(({ containerID }) => containerID),
      ['live'],
    );
    assert.deepEqual(
      freed?.map(({ containerID }) => containerID),
      ['dead'],
    );
  });

  const meaning: readonly (readonly [word: string, kept: string])[] = [
    ['dead', 'dead'],
    ['dead/eth0', 'dead'],
    ['de', 'dead'],
    ['li/eth0', 'live'],
    ['/proc/self/ns/net', 'live'],
    ['gone', 'dead'],
    ['gone/eth0', 'dead'],
  ];
  for (const [word, id] of meaning) {
    test(`keeps what "${word}" means`, async () => {
      using lab = await labWithTwo();
      const { kept } = (await lab.json(['gc', 'podnet', '--keep', word])) as {
        kept: { containerID: string }[];
      };
      assert.deepEqual(
        kept.map(({ containerID }) => containerID),
        [id],
      );
      const deleted = lab.calls().filter((call) => call.startsWith('noop DEL'));
      assert.deepEqual(
        deleted.map((call) => call.split(' ')[2]),
        [id === 'dead' ? 'live' : 'dead'],
      );
    });
  }

  test('frees nothing when a word means nothing, or could mean several', async () => {
    using lab = await labWithTwo();
    await lab.run(['add', 'podnet', 'third', '--container-id', 'lion']);
    for (const [word, why] of [
      ['deaf', 'no attachment "deaf" on podnet'],
      ['live/net9', 'no attachment "live/net9" on podnet'],
      ['', 'no attachment "" on podnet'],
      ['li', '"li" could be lion or live'],
    ] as const) {
      const { exitCode, stdout, stderr } = await lab.run(['gc', 'podnet', '--keep-live', '--keep', word]);
      assert.deepEqual({ exitCode, stdout }, { exitCode: 1, stdout: '' });
      assert.ok(stderr.startsWith(`heddle: nothing was freed: ${why}\n`), stderr);
    }
    assert.deepEqual(
      lab.calls().filter((call) => !call.startsWith('noop ADD')),
      [],
    );
  });
});

/** Files that are no configurations at all: each is told of, and keeps nothing else from being looked at. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { audit } from './audit.ts';
import { nodeFiles } from './node-files.ts';
import { bridged, findingsIn } from './testing/scene.ts';

const GOOD = bridged('10.1.0.0/16');

/** What is said of one file beside a good one. */
function saidOf(content: string | Uint8Array): readonly string[] {
  const findings = findingsIn({ files: { '10-pods.conflist': GOOD, '20-odd.conf': content } });
  return findings
    .filter(({ place }) => place?.file.endsWith('20-odd.conf'))
    .map(({ id, what }) => `${id}: ${what}`);
}

test('what is nested without an end is refused, however it is hidden', () => {
  const deep = (levels: number, open = '[', close = ']') => open.repeat(levels) + close.repeat(levels);
  for (const text of [
    deep(20_000),
    deep(9000),
    deep(501),
    '['.repeat(100_000),
    `/* " */ ${deep(3000)}`,
    `{"x": ${deep(2000, '{"a":', '}').replace(':}', ':0}')}}`,
  ]) {
    assert.deepEqual(saidOf(text), [
      'file/unreadable: the file cannot be read: it is nested more than 500 levels deep',
    ]);
  }
  assert.doesNotMatch(saidOf(`{"name": "a", "type": "bridge", "x": ${deep(100)}}`).join(), /nested/);
});

test('a binary is said to be one, and nothing of it is explained as text', () => {
  const bytes = Uint8Array.from({ length: 4096 }, (_, index) => (index * 167 + (index >> 3)) & 0xff);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]);
  assert.deepEqual(saidOf(bytes), ['file/unreadable: the file cannot be read: it is binary, and no text']);
});

test('no repair is offered where it would lose bytes that are no UTF-8', () => {
  const text = Buffer.from('{"cniVersion": "1.0.0", "name": "caf\xe9", "type": "loopback",}', 'latin1');
  const findings = findingsIn({ files: { '20-odd.conf': text } });
  assert.ok(findings.some(({ id }) => id === 'syntax/trailing-comma'));
  assert.deepEqual(
    findings.filter(({ fix }) => fix?.edits !== undefined),
    [],
  );
});

test('links that lead to themselves, pipes and devices keep nothing else from being looked at', () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-hostile-'));
  try {
    writeFileSync(join(directory, '10-pods.conflist'), JSON.stringify(GOOD));
    symlinkSync('30-loop.conf', join(directory, '30-loop.conf'));
    symlinkSync('/dev/zero', join(directory, '40-device.conf'));
    symlinkSync('/proc/kmsg', join(directory, '60-log.conf'));
    execFileSync('mkfifo', [join(directory, '50-pipe.conf')]);
    const { findings, fileCount } = audit({ paths: [directory], files: nodeFiles });
    assert.equal(fileCount, 5);
    assert.deepEqual(
      findings.filter(({ severity }) => severity === 'error').map(({ what }) => what),
      [
        'the file cannot be read: it is a link that leads back to itself',
        'the file cannot be read: it is no regular file',
        'the file cannot be read: it is no regular file',
        'the file is empty',
      ],
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('types that are names of what every object of JavaScript has are types like others', () => {
  for (const type of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    const ipam = { type };
    const chain = [
      { type: 'macvlan', master: 'eth0', ipam },
      { type, ipam },
    ];
    const files = { 'a.conflist': { cniVersion: '1.0.0', name: 'a', plugins: chain } };
    assert.deepEqual(findingsIn({ files }), []);
  }
});

test('what a text lacks is not told while names and values in it cannot be read', () => {
  const text = "{'cniVersion': '1.0.0', 'name': 'a', 'type': 'bridge', 'ipam': {'type': 'dhcp'}}";
  for (const each of [text, text.replaceAll("'", ''), text.replace(/'(\w+)':/g, '"$1"')]) {
    assert.deepEqual(
      saidOf(each).map((line) => line.replace(/:.*/, '')),
      ['syntax/invalid'],
      each,
    );
  }
});

test('a file that is named beside its directory, or twice, is told of once', () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-hostile-'));
  try {
    const path = join(directory, '10-pods.conflist');
    writeFileSync(path, '{');
    const once = audit({ paths: [directory], files: nodeFiles });
    for (const paths of [
      [directory, path],
      [path, `${directory}/`, directory],
    ]) {
      const { findings, fileCount } = audit({ paths, files: nodeFiles });
      assert.equal(fileCount, 1);
      assert.deepEqual(
        findings.map(({ id }) => id),
        once.findings.map(({ id }) => id),
      );
    }
    assert.equal(audit({ paths: [path, path], files: nodeFiles }).fileCount, 1);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('a file whose name is no UTF-8 is read as runtimes do, and not written under another name', () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-hostile-'));
  try {
    const path = Buffer.concat([Buffer.from(`${directory}/10-`), Buffer.from([0xff]), Buffer.from('.conf')]);
    writeFileSync(path, '{"cniVersion": "1.0.0", "name": "a", "type": "bridge",}');
    const { findings, fileCount } = audit({ paths: [directory], files: nodeFiles });
    assert.equal(fileCount, 1);
    assert.deepEqual(
      findings.map(({ id, fix }) => [id, fix]),
      [
        ['syntax/trailing-comma', undefined],
        ['selection/no-network', undefined],
      ],
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('a comment as in a shell script is called one', () => {
  const text =
    '# "ours", see {wiki}\n{"cniVersion": "1.0.0", "name": "a", # b\n "type": "loopback", # "c"\n} #';
  assert.deepEqual(
    saidOf(text).map((line) => line.replace(/:.*/, '')),
    ['syntax/trailing-comma', 'syntax/comment', 'syntax/comment', 'syntax/comment', 'syntax/comment'],
  );
  assert.deepEqual(
    saidOf('{"cniVersion": "1.0.0", "name": "a", "type": "bridge", "bridge": "br#0"}').filter((line) =>
      line.startsWith('syntax/'),
    ),
    [],
  );
});

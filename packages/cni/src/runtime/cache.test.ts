import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { HeddleError } from '@heddle/errors';
import fc from 'fast-check';
import { ResultCache } from './cache.ts';
import { decodeEntry, encodeEntry } from './cache-entry.ts';

const root = mkdtempSync(join(tmpdir(), 'heddle-cache-'));
after(() => rmSync(root, { recursive: true }));

let count = 0;
const freshDir = (): string => join(root, `cache-${++count}`);

const ID = { network: 'n1', containerID: 'c1', ifName: 'eth0' };
const config = Buffer.from('{"name":"n1"}');
const RESULT = { cniVersion: '1.1.0', ips: [{ address: '10.1.2.3/24' }] };

test("an entry has the reference's bytes, with empty members left out", () => {
  assert.equal(
    encodeEntry({ ...ID, config }),
    '{"kind":"cniCacheV1","containerId":"c1","config":"eyJuYW1lIjoibjEifQ==","ifName":"eth0","networkName":"n1"}',
  );
  assert.equal(
    encodeEntry({
      ...ID,
      config,
      args: [['A', '<']],
      capabilityArgs: { b: 1, a: 2 },
      result: RESULT,
      netns: '/n',
    }),
    '{"kind":"cniCacheV1","containerId":"c1","config":"eyJuYW1lIjoibjEifQ==","ifName":"eth0","networkName":"n1","netns":"/n","cniArgs":[["A","\\u003c"]],"capabilityArgs":{"a":2,"b":1},"result":{"cniVersion":"1.1.0","ips":[{"address":"10.1.2.3/24"}]}}',
  );
});

test('what is written is read again', () => {
  const entry = {
    ...ID,
    config,
    netns: '/n',
    args: [['A', 'b']] as const,
    capabilityArgs: { a: 1 },
    result: RESULT,
  };
  assert.deepEqual(decodeEntry(encodeEntry(entry), 'read'), entry);
});

test('what a process that was killed while it wrote has left goes with the next entry, and nothing else does', () => {
  const dir = freshDir();
  const hourAgo = Date.now() / 1000 - 3601;
  for (const name of ['.result-aB3dE9', '.result-young1', '.result-not-ours', 'other']) {
    mkdirSync(join(dir, name), { recursive: true });
    writeFileSync(join(dir, name, 'new'), '{"kind":"cniCa');
    if (name !== '.result-young1') utimesSync(join(dir, name), hourAgo, hourAgo);
  }
  writeFileSync(join(dir, '.result-aFile1'), '');
  utimesSync(join(dir, '.result-aFile1'), hourAgo, hourAgo);
  new ResultCache(dir).write({ ...ID, config });
  assert.deepEqual(readdirSync(dir).sort(), [
    '.result-aFile1',
    '.result-not-ours',
    '.result-young1',
    'other',
    'results',
  ]);
});

test('files are private, and nothing is left beside them', () => {
  const dir = freshDir();
  const cache = new ResultCache(dir);
  cache.write({ ...ID, config });
  cache.write({ ...ID, config, netns: '/n' });
  assert.equal(statSync(join(dir, 'results')).mode & 0o777, 0o700);
  assert.equal(statSync(join(dir, 'results/n1-c1-eth0')).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(dir), ['results']);
  assert.deepEqual(readdirSync(join(dir, 'results')), ['n1-c1-eth0']);
  assert.equal(cache.read(ID)?.netns, '/n');
  cache.remove(ID);
  cache.remove(ID);
  assert.equal(cache.read(ID), undefined);
});

test('an identity with an empty part has no file', () => {
  const cache = new ResultCache(freshDir());
  const message =
    'cache file path requires network name ("n1"), container ID (""), and interface name ("eth0")';
  const nobody = { ...ID, containerID: '' };
  assert.throws(() => cache.path(nobody), { message });
  assert.throws(() => cache.result(nobody, '1.0.0'), { message });
  assert.throws(() => cache.path({ ...ID, ifName: '../../x' }), /interface name contains/);
});

test('a result is converted to the wanted version; one of old times is understood', () => {
  const dir = freshDir();
  const cache = new ResultCache(dir);
  assert.equal(cache.result(ID, '1.0.0'), undefined);
  cache.write({ ...ID, config, result: RESULT });
  assert.deepEqual(cache.result(ID, '1.0.0'), { ...RESULT, cniVersion: '1.0.0' });
  writeFileSync(join(dir, 'results/n1-c1-eth0'), JSON.stringify(RESULT));
  assert.deepEqual(cache.result(ID, '1.0.0'), { ...RESULT, cniVersion: '1.0.0' });
  cache.write({ ...ID, config });
  assert.equal(cache.result(ID, '1.0.0'), undefined);
});

test('a configuration of a wrong kind, or that is no JSON, is an error', () => {
  const dir = freshDir();
  const cache = new ResultCache(dir);
  mkdirSync(join(dir, 'results'), { recursive: true });
  writeFileSync(join(dir, 'results/n1-c1-eth0'), '{"kind":"other"}');
  assert.throws(() => cache.read(ID), /failed to unmarshal cached network "n1" config: .*wrong kind/);
  writeFileSync(join(dir, 'results/n1-c1-eth0'), 'adfadf');
  assert.throws(() => cache.read(ID), /failed to unmarshal cached network "n1" config: /);
});

test('attachments are listed by name; what is no entry is passed over', () => {
  const dir = freshDir();
  const cache = new ResultCache(dir);
  assert.deepEqual(cache.attachments(), []);
  for (const containerID of ['c2', 'c1', 'net-c1-x']) cache.write({ ...ID, containerID, config });
  cache.write({ ...ID, network: 'c1', containerID: 'c3', config });
  writeFileSync(join(dir, 'results/a-c1-b'), '');
  writeFileSync(join(dir, 'results/old-c1-eth0'), JSON.stringify(RESULT));
  writeFileSync(join(dir, 'results/bare-c1-eth0'), '{"kind":"cniCacheV1","containerId":"c1"}');
  mkdirSync(join(dir, 'results/dir-c1-eth0'));
  const names = (containerID?: string) =>
    cache.attachments(containerID).map((each) => `${each.network}/${each.containerID}`);
  assert.deepEqual(names(), ['c1/c3', 'n1/c1', 'n1/c2', 'n1/net-c1-x']);
  assert.deepEqual(names('c1'), ['n1/c1']);
  const [first] = cache.attachments('c1');
  assert.equal(first?.addedAt, statSync(join(dir, 'results/n1-c1-eth0')).mtimeMs);
});

test('whatever a file holds, reading it gives an entry or an error of ours', () => {
  const whole = encodeEntry({ ...ID, config, args: [['A', 'b']], result: RESULT });
  const spoiled = fc
    .tuple(fc.nat(whole.length), fc.nat(20), fc.string())
    .map(([at, length, text]) => whole.slice(0, at) + text + whole.slice(at + length));
  fc.assert(
    fc.property(spoiled, (text) => {
      try {
        decodeEntry(text, 'read');
      } catch (error) {
        assert.ok(error instanceof HeddleError);
      }
    }),
  );
});

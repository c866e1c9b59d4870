import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { CNI_VERSIONS } from '@heddle/cni';
import { flock, O, openFile } from '@heddle/sys';
import { HostLocalLab } from './testing.ts';

/** Holds the lock that whoever changes reservations takes. */
function lockFile(path: string): Disposable {
  const file = openFile(path, O.RDONLY);
  flock(file, 'exclusive');
  return file;
}

let lab: HostLocalLab;
beforeEach(() => {
  lab = new HostLocalLab();
});
afterEach(() => lab[Symbol.dispose]());

describe('an exhausted pool', () => {
  const conf = (rest: object = {}) =>
    lab.config({ subnet: '192.0.2.0/24', rangeStart: '192.0.2.2', rangeEnd: '192.0.2.3', ...rest });
  beforeEach(() => {
    lab.plant('192.0.2.2', 'gone1\r\neth0');
    lab.plant('192.0.2.3', 'gone2\r\neth0');
  });

  test('fails ADD with code 11 and says how full it is and who tells more', async () => {
    const { code, msg } = await lab.refused({ command: 'ADD', config: conf() });
    assert.equal(code, 11);
    assert.equal(
      msg,
      `failed to allocate for range 0: no IP addresses available in range set: 192.0.2.2-192.0.2.3: 2 of 2 in use, 2 of them for no attachment that ${lab.cacheDir} knows (GC frees those); "heddle ls" shows who holds them`,
    );
  });

  test('says no more than it knows when the cache cannot be read', async () => {
    mkdirSync(lab.cacheDir, { recursive: true });
    writeFileSync(join(lab.cacheDir, 'results'), 'no directory');
    const { msg } = await lab.refused({ command: 'ADD', config: conf() });
    assert.match(msg, /2 of 2 in use; "heddle ls" shows who holds them$/);
  });

  test('tells how many addresses are held for no attachment that the runtime remembers', async () => {
    mkdirSync(join(lab.cacheDir, 'results'), { recursive: true });
    writeFileSync(join(lab.cacheDir, 'results', 'mynet-gone1-eth0'), '{}');
    const { msg } = await lab.refused({ command: 'ADD', config: conf() });
    assert.match(msg, /2 of 2 in use, 1 of them for no attachment that .*cache knows/);
  });

  test('is freed by GC', async () => {
    const { code } = await lab.refused({ command: 'GC', config: conf() });
    assert.equal(code, 7);
    assert.deepEqual(lab.reservations(), ['192.0.2.2', '192.0.2.3']);
    await lab.ok({ command: 'GC', config: { ...conf(), 'cni.dev/valid-attachments': null } });
    assert.deepEqual(lab.reservations(), []);
    assert.deepEqual((await lab.ok({ command: 'ADD', config: conf() })).addresses, ['192.0.2.2/24']);
  });

  test('is a warning in STATUS, an error if the configuration asks for it', async () => {
    const { stderr } = await lab.ok({ command: 'STATUS', config: conf() });
    assert.match(
      stderr,
      /no IP addresses available in range set: 192\.0\.2\.2-192\.0\.2\.3: 2 of 2 in use\n$/,
    );
    const { code } = await lab.refused({ command: 'STATUS', config: conf({ statusOnExhaustion: true }) });
    assert.equal(code, 50);
    await lab.ok({ command: 'DEL', config: conf(), containerID: 'gone1' });
    assert.equal(
      (await lab.ok({ command: 'STATUS', config: conf({ statusOnExhaustion: true }) })).stderr,
      '',
    );
  });
});

describe('GC', () => {
  const attachment = (containerID: string) => ({ network: 'mynet', containerID, ifName: 'eth0' });
  const conf = (valid: object[]) => ({
    ...lab.config({ subnet: '10.1.2.0/24' }),
    'cni.dev/valid-attachments': valid,
  });

  test('frees the stale and nothing else', async () => {
    for (const [name, content] of [
      ['10.1.2.2', 'live\r\neth0'],
      ['10.1.2.3', 'live\r\neth1'],
      ['10.1.2.4', 'gone\r\neth0'],
      ['10.1.2.5', 'live'],
      ['10.1.2.6', 'gone'],
      ['10.1.2.7', 'busy\r\neth0'],
      ['10.1.2.8', ''],
    ] as const) {
      lab.plant(name, content);
    }
    const request = {
      command: 'GC',
      config: conf([{ containerID: 'live', ifname: 'eth0' }]),
      inflight: [attachment('busy')],
    };
    const { stderr } = await lab.ok(request);
    // An old reservation without an interface may belong to the ADD that is under way.
    assert.deepEqual(lab.reservations(), ['10.1.2.2', '10.1.2.5', '10.1.2.6', '10.1.2.7']);
    assert.match(stderr, /reclaimed 10\.1\.2\.8/);
    await lab.ok({ ...request, inflight: [] });
    assert.deepEqual(lab.reservations(), ['10.1.2.2', '10.1.2.5']);
  });

  test('while ADDs run never frees an address that was given after it began', async () => {
    const starting = Array.from({ length: 50 }, (_, index) => attachment(`c${index}`));
    const live: object[] = [];
    await Promise.all(
      starting.map(async ({ containerID, ifName }, index) => {
        await lab.ok({ command: 'ADD', config: lab.config({ subnet: '10.1.2.0/24' }), containerID });
        live.push({ containerID, ifname: ifName });
        if (index % 5 === 0) await lab.ok({ command: 'GC', config: conf(live), inflight: starting });
      }),
    );
    assert.equal(lab.reservations().length, 50);
    await lab.ok({ command: 'GC', config: conf([{ containerID: 'c0', ifname: 'eth0' }]) });
    assert.deepEqual(
      lab.reservations().map((name) => lab.read(name)),
      ['c0\r\neth0'],
    );
  });

  test('without any files changes nothing', async () => {
    await lab.ok({ command: 'GC', config: conf([]) });
    assert.deepEqual(readdirSync(lab.root), []);
  });
});

describe('CHECK and STATUS', () => {
  const conf = (prevResult?: object) => lab.config({ subnet: '10.1.2.0/24' }, prevResult && { prevResult });

  test('CHECK wants the reservation, and the addresses in use to be the reserved ones', async () => {
    const before = await lab.refused({ command: 'CHECK', config: conf() });
    assert.deepEqual(
      [before.code, before.msg],
      [150, 'host-local: Failed to find address added by container dummy'],
    );
    const { result } = await lab.ok({ command: 'ADD', config: conf() });
    await lab.ok({ command: 'CHECK', config: conf() });
    await lab.ok({ command: 'CHECK', config: conf(result) });
    await lab.ok({
      command: 'CHECK',
      config: conf({ ips: [{ address: '10.1.2.2/24' }, { address: '192.0.2.1/24' }] }),
    });
    const { msg } = await lab.refused({
      command: 'CHECK',
      config: conf({ ips: [{ address: '10.1.2.9/24' }] }),
    });
    assert.equal(msg, 'host-local: eth0 of dummy uses 10.1.2.9 but holds 10.1.2.2');
    lab.remove('10.1.2.2');
    await lab.refused({ command: 'CHECK', config: conf(result) });
  });

  test('CHECK changes nothing and waits for nobody', async () => {
    await lab.ok({ command: 'ADD', config: conf() });
    lab.plant('.heddle-draft', 'of somebody at work');
    using _atWork = lockFile(join(lab.directory, 'lock'));
    assert.equal((await lab.ok({ command: 'CHECK', config: conf() })).stderr, '');
    assert.ok(lab.files().includes('.heddle-draft'));
  });

  test('STATUS makes nothing, and ranges may come with ADD only', async () => {
    assert.equal((await lab.ok({ command: 'STATUS', config: conf() })).stderr, '');
    await lab.ok({ command: 'STATUS', config: lab.config({}) });
    assert.deepEqual(readdirSync(lab.root), []);
    assert.equal(
      (await lab.refused({ command: 'STATUS', config: lab.config({ subnet: '10.1.2.1/24' }) })).code,
      7,
    );
  });

  test('STATUS answers 50 when the reservations cannot be read', async () => {
    mkdirSync(lab.dataDir);
    writeFileSync(lab.directory, 'a file where the directory should be');
    assert.equal((await lab.refused({ command: 'STATUS', config: conf() })).code, 50);
  });

  test('VERSION needs no configuration', async () => {
    const { result } = await lab.ok({ command: 'VERSION', config: {} });
    assert.deepEqual(result, { cniVersion: '1.1.0', supportedVersions: [...CNI_VERSIONS] });
  });
});

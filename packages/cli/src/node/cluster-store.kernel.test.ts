import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { HeddleError } from '@heddle/errors';
import { EtcdCluster, etcdMissing, memberAddresses } from '@heddle/store/testing';
import { CliLab } from '../testing/cli-lab.ts';
import { reachStore } from './cluster-store.ts';

const directory = mkdtempSync(join(tmpdir(), 'heddle-reach-'));
after(() => rmSync(directory, { recursive: true }));
const pem = (name: string) => join(directory, `${name}.pem`);
const key = (name: string) => join(directory, `${name}.key`);

/** A certificate that signs itself. */
function certificate(name: string): void {
  const names = memberAddresses().map((address) => `IP:${address}`);
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-nodes', '-days', '2', '-subj', `/CN=${name}`, ...curve],
      ...['-addext', `subjectAltName=${names.join(',')}`, '-keyout', key(name), '-out', pem(name)],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
}

function refusal(message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof HeddleError);
    assert.match(`${error.message}\n${error.hint ?? ''}`, message);
    return true;
  };
}

test('a store is reached with the right certificates only, and what is wrong is told', {
  skip: etcdMissing(),
}, async () => {
  for (const name of ['ours', 'theirs']) certificate(name);
  await using cluster = await EtcdCluster.start({
    tls: { cert: pem('ours'), key: key('ours'), clientCa: pem('ours') },
  });
  const store = `etcd://${cluster.endpoints.map((url) => url.replace('https://', '')).join(',')}`;
  const own = { cert: pem('ours'), key: key('ours') };
  await using reached = await reachStore({ store, tls: { ca: pem('ours'), ...own } });
  assert.equal(await reached.get('/heddle/none'), undefined);
  await assert.rejects(reachStore({ store, tls: { ca: pem('theirs'), ...own } }), refusal(/certificate/));
  const stranger = { cert: pem('theirs'), key: key('theirs') };
  await assert.rejects(reachStore({ store, tls: { ca: pem('ours'), ...stranger } }), refusal(/certificate/));
  await assert.rejects(reachStore({ store, tls: { ca: pem('ours') } }), refusal(/certificate/));
  await assert.rejects(
    reachStore({ store, tls: { cert: pem('ours') } }),
    refusal(/a certificate needs its key/),
  );
  // The command says the same, and has changed nothing.
  using lab = new CliLab();
  const flags = { store, ca: pem('theirs'), cert: pem('ours'), key: key('ours') };
  const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const { exitCode, stderr } = await lab.run(['up', ...words]);
  assert.equal(exitCode, 1, stderr);
  assert.match(stderr, /certificate/);
  assert.equal(existsSync(lab.places.nodeConfig), false);
});

test('a store that nobody serves is told at once', async () => {
  await assert.rejects(reachStore({ store: 'etcd://127.0.0.1:1' }), refusal(/127\.0\.0\.1:1.*ECONNREFUSED/s));
});

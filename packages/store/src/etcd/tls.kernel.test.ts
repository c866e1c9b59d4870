import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { put } from '../compare-and-swap.ts';
import { EtcdCluster, etcdMissing, memberAddresses } from '../testing/etcd-cluster.ts';
import { openEtcd } from './etcd-store.ts';

const directory = mkdtempSync(join(tmpdir(), 'heddle-tls-'));
after(() => rmSync(directory, { recursive: true }));
const file = (name: string) => join(directory, name);
const text = (name: string) => readFileSync(file(name), 'utf8');

function authority(name: string): void {
  const subject = [
    '-subj',
    `/CN=${name}`,
    '-days',
    '2',
    '-nodes',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
  ];
  openssl('req', '-x509', ...subject, '-keyout', file(`${name}.key`), '-out', file(`${name}.pem`));
}

function certificate(name: string, by: string, addresses: readonly string[]): void {
  const names = addresses.map((address) => `IP:${address}`).join(',');
  const key = [
    '-nodes',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-keyout',
    file(`${name}.key`),
  ];
  const asked = ['-addext', `subjectAltName=${names}`, '-out', file(`${name}.csr`)];
  openssl('req', '-subj', `/CN=${name}`, ...key, ...asked);
  const signer = [
    '-CA',
    file(`${by}.pem`),
    '-CAkey',
    file(`${by}.key`),
    '-CAcreateserial',
    '-copy_extensions',
    'copy',
  ];
  openssl('x509', '-req', '-in', file(`${name}.csr`), ...signer, '-days', '2', '-out', file(`${name}.pem`));
}

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

test('certificates are shown and looked at on both sides', { skip: etcdMissing() }, async () => {
  authority('ours');
  authority('theirs');
  certificate('server', 'ours', memberAddresses());
  certificate('elsewhere', 'ours', ['192.0.2.1']);
  certificate('client', 'ours', ['127.0.0.1']);
  certificate('stranger', 'theirs', ['127.0.0.1']);
  await using cluster = await EtcdCluster.start({
    tls: { cert: file('server.pem'), key: file('server.key'), clientCa: file('ours.pem') },
  });
  const { endpoints } = cluster;
  const ca = text('ours.pem');
  const refused = { code: 'STORE_UNAUTHORISED', mayHaveHappened: false };

  const tls = { ca, cert: text('client.pem'), key: text('client.key') };
  await using store = openEtcd({ endpoints, tls });
  const revision = await put(store, '/x', '1');
  for await (const batch of store.watch('/x', revision - 1)) {
    assert.equal(batch.revision, revision);
    break;
  }

  await using distrustful = openEtcd({ endpoints, tls: { ...tls, ca: text('theirs.pem') } });
  await assert.rejects(put(distrustful, '/x', '2'), refused);
  await using nameless = openEtcd({ endpoints, tls: { ca } });
  await assert.rejects(put(nameless, '/x', '2'), refused);
  const stranger = { ca, cert: text('stranger.pem'), key: text('stranger.key') };
  await using foreign = openEtcd({ endpoints, tls: stranger });
  await assert.rejects(put(foreign, '/x', '2'), refused);
  await using plain = openEtcd({ endpoints: endpoints.map((url) => url.replace('https', 'http')) });
  await assert.rejects(put(plain, '/x', '2'), { code: 'STORE_UNAVAILABLE' });

  await using misplaced = await EtcdCluster.start({
    tls: { cert: file('elsewhere.pem'), key: file('elsewhere.key'), clientCa: file('ours.pem') },
  });
  await using other = openEtcd({ endpoints: misplaced.endpoints, tls });
  await assert.rejects(put(other, '/x', '2'), {
    ...refused,
    message: /IP: 127\..* is not in the cert's list/,
  });
  assert.equal((await store.get('/x'))?.value, '1');
});

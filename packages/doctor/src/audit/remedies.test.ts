/** Remedies that say what to write or remove, so that nothing else need be read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bridged, findingsIn, installedAs, list } from './testing/scene.ts';

const plugin = (type: string, ...versions: string[]) => ({
  [type]: { path: `/opt/cni/bin/${type}`, obstacles: [], versions },
});

test('of a version that is not released, the newest that all plugins speak is the one to write', () => {
  const files = { '10-pods.conflist': { ...bridged('10.1.0.0/16'), cniVersion: '1.2.0' } };
  const remedy = (scene: Parameters<typeof findingsIn>[0]) =>
    findingsIn(scene).find(({ id }) => id === 'version/unreleased')?.remedy;
  assert.match(remedy({ files }) ?? '', /^Write "1\.1\.0"/);
  const installed = installedAs({
    ...plugin('bridge', '0.4.0', '1.0.0'),
    ...plugin('host-local', '1.0.0', '1.1.0'),
  });
  assert.match(remedy({ files, installed }) ?? '', /^Write "1\.0\.0", the newest that all plugins/);
});

test('a plugin that says what it speaks is told of once', () => {
  const chain = { ...list({ type: 'bridge' }, { type: 'firewall' }), cniVersion: '0.3.1' };
  const installed = installedAs({
    ...plugin('bridge', '0.3.1', '0.4.0', '1.0.0'),
    ...plugin('firewall', '0.4.0', '1.0.0'),
  });
  const ids = findingsIn({ files: { '10-pods.conflist': chain }, installed }).map(({ id }) => id);
  assert.ok(ids.includes('version/unsupported-by-plugin'), ids.join());
  assert.ok(!ids.includes('version/older-than-plugin'), ids.join());
});

test('a leftover that keeps another file from being in force is said to be removable', () => {
  const files = {
    '05-cilium.conflist': { ...list({ type: 'cilium-cni' }), name: 'cilium' },
    '10-pods.conflist': bridged('10.1.0.0/16'),
  };
  const installed = installedAs({ ...plugin('bridge', '1.0.0'), ...plugin('host-local', '1.0.0') });
  const remedy = findingsIn({ files, installed }).find(
    ({ id }) => id === 'chain/plugin-not-installed',
  )?.remedy;
  assert.match(remedy ?? '', /05-cilium\.conflist is left .*, remove it, and Pods get .*10-pods\.conflist/);
});

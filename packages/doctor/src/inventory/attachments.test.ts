import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ownerAlias } from '@heddle/cni/plugin';
import type { CachedAttachment } from '@heddle/cni/runtime';
import { type Evidence, listAttachments } from './attachments.ts';

const NOTHING: Evidence = { cached: [], links: [], reservations: [], hasNetns: () => true };

function cached(containerID: string, more: Partial<CachedAttachment> = {}): CachedAttachment {
  const config = new TextEncoder().encode('{}');
  const result = { cniVersion: '1.0.0', ips: [{ address: '10.1.0.2/24' }, { address: 'fd00::2/64' }] };
  return {
    ...{ network: 'net1', containerID, ifName: 'eth0', config, result, netns: '/run/netns/a', addedAt: 1000 },
    ...more,
  };
}

function reservation(containerID: string, addr: string, ifName: string | undefined = 'eth0') {
  const path = `/var/lib/cni/networks/net1/${addr}`;
  return { network: 'net1', containerID, addr, createdAt: 500, path, ...(ifName !== '' && { ifName }) };
}

describe('the attachments of a node', () => {
  test('are one entry each, though three places know of them', () => {
    const id = { network: 'net1', containerID: 'c1', ifName: 'eth0' };
    const alias = ownerAlias(id, 'K8S_POD_NAMESPACE=default;K8S_POD_NAME=web');
    assert.deepEqual(
      listAttachments({
        ...NOTHING,
        cached: [cached('c1')],
        links: [{ name: 'lo' }, { name: 'veth1', alias }, { name: 'eth0', alias: 'uplink' }],
        reservations: [reservation('c1', '10.1.0.2'), reservation('c1', 'fd00::2')],
      }),
      [
        {
          ...id,
          state: 'attached',
          netns: '/run/netns/a',
          ips: ['10.1.0.2/24', 'fd00::2/64'],
          addedAt: 1000,
          link: 'veth1',
          pod: { namespace: 'default', name: 'web', uid: null },
          knownBy: ['cache', 'link', 'reservation'],
        },
      ],
    );
  });

  test('are stale when their namespace is gone', () => {
    const [entry] = listAttachments({ ...NOTHING, cached: [cached('c1')], hasNetns: () => false });
    assert.equal(entry?.state, 'stale');
  });

  test('are untracked when only the kernel knows them', () => {
    const alias = ownerAlias({ network: 'net1', containerID: 'c1', ifName: 'eth0' });
    const [entry] = listAttachments({ ...NOTHING, links: [{ name: 'veth1', alias }] });
    assert.deepEqual(
      { state: entry?.state, ips: entry?.ips, addedAt: entry?.addedAt, knownBy: entry?.knownBy },
      { state: 'untracked', ips: [], addedAt: null, knownBy: ['link'] },
    );
  });

  test('are untracked when only an address is held, with that address and its age', () => {
    const [entry] = listAttachments({ ...NOTHING, reservations: [reservation('c1', '10.1.0.9')] });
    assert.deepEqual(
      { state: entry?.state, ips: entry?.ips, addedAt: entry?.addedAt },
      { state: 'untracked', ips: ['10.1.0.9'], addedAt: 500 },
    );
  });

  test('of the oldest reservations, which name no interface, belong to the container', () => {
    const held = [reservation('c1', '10.1.0.2', ''), reservation('c2', '10.1.0.3', '')];
    const list = listAttachments({ ...NOTHING, cached: [cached('c1')], reservations: held });
    assert.deepEqual(
      list.map(({ containerID, ifName, knownBy }) => [containerID, ifName, knownBy.join()]),
      [
        ['c1', 'eth0', 'cache,reservation'],
        ['c2', null, 'reservation'],
      ],
    );
  });

  test('are ordered by network, container and interface', () => {
    const list = listAttachments({
      ...NOTHING,
      cached: [cached('b'), cached('a', { ifName: 'net1' }), cached('a'), cached('z', { network: 'net0' })],
    });
    assert.deepEqual(
      list.map(({ network, containerID, ifName }) => `${network} ${containerID} ${ifName}`),
      ['net0 z eth0', 'net1 a eth0', 'net1 a net1', 'net1 b eth0'],
    );
  });

  test('with a result that cannot be read are there all the same', () => {
    const [entry] = listAttachments({ ...NOTHING, cached: [cached('c1', { result: { cniVersion: '9' } })] });
    assert.deepEqual({ state: entry?.state, ips: entry?.ips }, { state: 'attached', ips: [] });
  });
});

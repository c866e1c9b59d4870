/** The check of source addresses on the real kernel. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CNI_CODE, CniError } from '@heddle/cni';
import { Mac } from '@heddle/netaddr';
import { TestNetns } from '@heddle/netlink/testing';
import { addSpoofCheck, checkSpoofCheck, gcSpoofCheck, removeSpoofCheck } from './spoof-check.ts';
import { staleAllBut } from './testing/stale-all-but.ts';

const owner = { network: 'n1', containerID: 'c1', ifName: 'eth0' };
const check = { hostLink: 'veth1', mac: Mac.parse('02:00:00:00:00:01') };

test('a pod is heard as itself only', async () => {
  using node = new TestNetns();
  using pod = new TestNetns();
  using free = new TestNetns();
  for (const each of [node, pod, free]) each.skipAddressDetection();
  node.run('ip link add br0 type bridge');
  node.run('ip link set br0 up');
  node.run('ip address add 10.77.0.1/24 dev br0');
  for (const [there, n] of [
    [pod, 1],
    [free, 2],
  ] as const) {
    node.join(there, [`veth${n}`, 'eth0']);
    node.run(`ip link set veth${n} master br0`);
    there.run(`ip link set eth0 address 02:00:00:00:00:0${n}`);
    there.run(`ip address add 10.77.0.${n + 1}/24 dev eth0`);
  }
  await addSpoofCheck(node.session, owner, check);
  assert.equal(pod.pings('10.77.0.1'), true);
  pod.run('ip link set eth0 address 02:00:00:00:00:99');
  node.run('ip neighbour flush dev br0');
  assert.equal(pod.pings('10.77.0.1'), false);
  // Others are not looked at.
  free.run('ip link set eth0 address 02:00:00:00:00:98');
  assert.equal(free.pings('10.77.0.1'), true);
  await removeSpoofCheck(node.session, owner);
  // It would wait a second before it asks for the node's address once more.
  pod.run('ip neighbour flush dev eth0');
  assert.equal(pod.pings('10.77.0.1'), true);
});

test('twice is once; the link belongs to who had it last', async () => {
  using node = new TestNetns();
  await addSpoofCheck(node.session, owner, check);
  const once = node.ruleset;
  await addSpoofCheck(node.session, owner, check);
  assert.equal(node.ruleset, once);
  const heir = { ...owner, containerID: 'c2' };
  await addSpoofCheck(node.session, heir, { ...check, mac: Mac.parse('02:00:00:00:00:02') });
  assert.doesNotMatch(node.ruleset, /id: c1|02:00:00:00:00:01/);
  await removeSpoofCheck(node.session, owner);
  await checkSpoofCheck(node.session, heir, { ...check, mac: Mac.parse('02:00:00:00:00:02') });
});

test('CHECK says what is missing', async () => {
  using node = new TestNetns();
  await addSpoofCheck(node.session, owner, check);
  await checkSpoofCheck(node.session, owner, check);
  const misses = (text: RegExp) =>
    assert.rejects(
      () => checkSpoofCheck(node.session, owner, check),
      (error) => error instanceof CniError && error.cniCode === CNI_CODE.DRIFT && text.test(error.message),
    );
  node.run('nft delete element bridge heddle link_addresses { veth1 . 02:00:00:00:00:01 }');
  await misses(/on veth1: missing element link_addresses veth1 \. 02:00:00:00:00:01/);
  node.run('nft flush chain bridge heddle prerouting');
  await misses(/missing the rule of table bridge heddle; element/);
});

test('GC takes what is stale', async () => {
  using node = new TestNetns();
  for (const id of ['live', 'stale']) {
    await addSpoofCheck(node.session, { ...owner, containerID: id }, { ...check, hostLink: `v-${id}` });
  }
  await gcSpoofCheck(node.session, staleAllBut('n1', 'live'));
  assert.match(node.ruleset, /id: live/);
  assert.doesNotMatch(node.ruleset, /stale/);
});

test('what the reference left goes with a removal, of this interface only', async () => {
  using node = new TestNetns();
  const chains = (id: string) => `
    chain cni-br-iface-${id}-eth0-mac {
      ether saddr 02:00:00:00:00:01 return comment "macspoofchk-${id}-eth0"
      drop comment "macspoofchk-${id}-eth0"
    }
    chain cni-br-iface-${id}-eth0 { jump cni-br-iface-${id}-eth0-mac comment "macspoofchk-${id}-eth0"; }`;
  const jump = (id: string) =>
    `iifname "veth-${id}" jump cni-br-iface-${id}-eth0 comment "macspoofchk-${id}-eth0"`;
  node.run(
    'nft',
    `table bridge nat { ${chains('c1')} ${chains('c2')}
      chain PREROUTING { type filter hook prerouting priority dstnat; policy accept;
        ${jump('c1')}
        ${jump('c1')}
        ${jump('c2')}
      }
    }`,
  );
  await removeSpoofCheck(node.session, owner);
  await removeSpoofCheck(node.session, owner);
  assert.doesNotMatch(node.ruleset, /c1-eth0/);
  assert.equal(node.ruleset.match(/c2-eth0/g)?.length, 8);
});

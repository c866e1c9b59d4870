/** Nodes that cannot be taken over: the command says why, and node and store are as they were. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningLab, specOf } from '@heddle/lab';
import { heddleProgram, startLab } from './cluster-lab.ts';
import { addPod, heddle, must, nodeState, reaches, type StagedPod, stageFlannel } from './flannel-nodes.ts';

const STORE = 'sqlite:///run/lab/store.db';
const OTHER_STORE = 'sqlite:///run/lab/other.db';
const NETWORK = '/etc/cni/net.d/10-flannel.conflist';
const ENV = '/run/flannel/subnet.env';
const RESERVATIONS = '/var/lib/cni/networks/cbr0';
let lab: RunningLab;
let pods: readonly StagedPod[];

/** What is in the way, by a script; another one takes it back. */
interface Obstacle {
  readonly what: string;
  readonly put: string;
  readonly remove: string;
  readonly args?: readonly string[];
  readonly name?: string;
  readonly store?: string;
  readonly says: RegExp;
  /** 3 unless said otherwise: something is in the way. */
  readonly status?: number;
}

/** Changes a file, with the former one beside. */
const edit = (file: string, expression: string) => `cp ${file} /run/before; sed -i '${expression}' ${file}`;
const restore = (file: string) => `cp /run/before ${file}; rm /run/before`;
const edited = (file: string, expression: string) => ({
  put: edit(file, expression),
  remove: restore(file),
});

const OBSTACLES: readonly Obstacle[] = [
  {
    what: 'another backend of Flannel',
    put: 'ip link add flannel-wg type veth peer name beyond',
    remove: 'ip link delete flannel-wg',
    says: /Flannel's backend with the device flannel-wg cannot be taken over/,
  },
  {
    what: 'pods that are attached by something else',
    ...edited(NETWORK, 's/"delegate":{/"delegate":{"type":"macvlan","master":"eth0",/'),
    says: /its pods are attached by macvlan/,
  },
  {
    what: 'pods in a VLAN of the bridge',
    ...edited(NETWORK, 's/"delegate":{/"delegate":{"vlan":7,/'),
    says: /its pods are in a VLAN of the bridge/,
  },
  {
    what: 'a network with the name of the cluster’s',
    ...edited(NETWORK, 's/"cbr0"/"heddle"/'),
    says: /has the name that the cluster's network has/,
  },
  {
    what: 'no network of Flannel',
    put: `mv ${NETWORK} /run/before`,
    remove: `mv /run/before ${NETWORK}`,
    says: /there is no network of flannel in \/etc\/cni\/net\.d/,
  },
  {
    what: 'several networks of Flannel',
    put: `sed 's/"cbr0"/"cbr1"/' ${NETWORK} > /etc/cni/net.d/20-flannel.conflist`,
    remove: 'rm /etc/cni/net.d/20-flannel.conflist',
    says: /there are several networks of flannel: cbr0, cbr1/,
  },
  {
    what: 'a network of that name that is not there',
    put: ':',
    remove: ':',
    args: ['--network', 'cbr7'],
    says: /there is no network cbr7 of flannel[\s\S]*there is cbr0/,
  },
  {
    what: 'nothing that Flannel’s daemon has said',
    put: `mv ${ENV} /run/before`,
    remove: `mv /run/before ${ENV}`,
    says: /subnet\.env/,
    status: 1,
  },
  {
    what: 'a subnet that is in no range of the network',
    ...edited(ENV, 's/^FLANNEL_SUBNET=.*/FLANNEL_SUBNET=10.99.1.1\\/24/'),
    says: /10\.99\.1\.0\/24/,
  },
  {
    what: 'a pod with an address outside of the subnet',
    put: `printf 'stray\\neth0' > ${RESERVATIONS}/10.99.0.5`,
    remove: `rm ${RESERVATIONS}/10.99.0.5`,
    says: /has 10\.99\.0\.5, which is in no subnet of this node/,
  },
  {
    what: 'something else in the place of the cluster’s network',
    put: `echo '{"cniVersion":"1.0.0","name":"mine","plugins":[{"type":"ptp"}]}' > /etc/cni/net.d/10-heddle.conflist`,
    remove: 'rm /etc/cni/net.d/10-heddle.conflist',
    says: /10-heddle\.conflist is in the way, and not that of the cluster/,
  },
  {
    what: 'a range that services have',
    put: ':',
    remove: ':',
    args: ['--service-cidr', '10.244.128.0/17'],
    says: /overlaps 10\.244\.128\.0\/17, the range of services/,
    status: 1,
  },
  {
    what: 'a name that another machine has',
    put: ':',
    remove: ':',
    name: 'node2',
    store: OTHER_STORE,
    says: /node node2 is in the cluster already, as another machine/,
    status: 1,
  },
  {
    what: 'a cluster whose nodes take blocks as they need them',
    put: ':',
    remove: ':',
    store: OTHER_STORE,
    says: /the nodes of this cluster take blocks as they need them/,
  },
  {
    what: 'something where the former configuration is to go, which is seen last',
    put: 'mkdir -p /etc/heddle; echo mine > /etc/heddle/former',
    remove: 'rm /etc/heddle/former',
    says: /\/etc\/heddle\/former/,
    status: 1,
  },
];

before(async () => {
  lab = await startLab(specOf({ nodes: 2, pods: 0, network: { wiring: 'by-hand' } }));
  await stageFlannel(lab, 2);
  pods = [await addPod(lab, 'node1', 'cbr0', 'one'), await addPod(lab, 'node1', 'cbr0', 'other')];
  // Another cluster, of which node2 is.
  await must(
    lab,
    'node2',
    'sh',
    '-ec',
    'rm /etc/cni/net.d/*; ip link delete flannel.1; ip link delete flannel-v6.1',
  );
  const away = ['--pool', '10.64.0.0/16', '--pool', 'fd00:64::/48'];
  await heddle(lab, 'node2', 'up', '--store', OTHER_STORE, '--name', 'node2', ...away);
});

after(async () => {
  await lab.down();
});

/** What stands in a store: pools, blocks, holders; and which nodes there are. */
const storeState = (store: string) => heddle(lab, 'node1', 'ipam', 'show', '--store', store, '-o', 'json');

for (const { what, put, remove, args = [], name = 'node1', store = STORE, says, status = 3 } of OBSTACLES) {
  test(`not taken over: ${what}`, async () => {
    await must(lab, 'node1', 'sh', '-ec', put);
    const before = [await nodeState(lab, 'node1'), await storeState(store)];
    const command = [...heddleProgram(), 'migrate', 'flannel', '--store', store, '--name', name, ...args];
    const refused = await lab.ask('run', { on: 'node1', command });
    assert.match(refused.stderr, says);
    assert.equal(refused.status, status, refused.stderr);
    assert.equal(refused.stdout, '');
    assert.deepEqual([await nodeState(lab, 'node1'), await storeState(store)], before);
    await must(lab, 'node1', 'sh', '-ec', remove);
  });
}

test('what was not taken over cannot be ended', async () => {
  const before = await nodeState(lab, 'node1');
  const command = [...heddleProgram(), 'migrate', 'flannel', '--finish', '--force'];
  const refused = await lab.ask('run', { on: 'node1', command });
  assert.match(refused.stderr, /\/etc\/heddle\/node\.json/);
  assert.notEqual(refused.status, 0);
  assert.equal(await nodeState(lab, 'node1'), before);
});

test('without any of these it is taken over', async () => {
  await heddle(lab, 'node1', 'migrate', 'flannel', '--store', STORE, '--name', 'node1');
  const fresh = await addPod(lab, 'node1', 'heddle', 'fresh');
  for (const pod of pods) {
    for (const address of fresh.addresses) assert.ok(await reaches(lab, pod, address), address);
    for (const address of pod.addresses) assert.ok(await reaches(lab, fresh, address), address);
  }
});

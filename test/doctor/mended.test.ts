/**
 * Each fault is mended by somebody who has nothing but what is printed: the commands of the first finding are typed as
 * they are, or what its words ask for is done; then he looks again, until nothing is found and a container gets on.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { missing } from '../support/programs.ts';
import { OperatorNode } from './operator-node.ts';
import type { Told } from './printed.ts';

interface Fault {
  readonly name: string;
  /** What is first in the output. */
  readonly id: string;
  readonly network?: Parameters<typeof OperatorNode.start>[0];
  /** Breaks a machine with the container `c1`. */
  readonly stage: (node: OperatorNode) => void;
  /** What the operator types to look. */
  readonly look?: string;
  /** Does what the words say, where there is nothing to type. */
  readonly byHand?: (node: OperatorNode, told: Told) => void;
  readonly skip?: string | false;
}

const FILE = '/etc/cni/net.d/10-podnet.conflist';
const AS_POD = "CNI_ARGS='IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web'";
const PUBLISHED = `CAP_ARGS='{"portMappings":[{"hostPort":8080,"containerPort":80,"protocol":"tcp"}]}'`;
const ENGINE = 'nft add table inet kube-network-policies';

/** Reads one word out of a remedy. */
function word(told: Told, pattern: RegExp): string {
  const found = pattern.exec(told.remedy)?.[1];
  assert.ok(found !== undefined, `${told.id} says ${pattern}: ${told.remedy}`);
  return found;
}

const hostVeth = (node: OperatorNode) => /(veth\w+)@/.exec(node.sh('ip -o link show master cni0'))?.[1] ?? '';

/** Writes what a remedy says is to be written, into the plugin and the file that it names. */
function writeMtu(node: OperatorNode, told: Told): void {
  const mtu = word(told, /"mtu": (\d+)/);
  const file = word(told, /into the plugin bridge of network podnet, (\S+\.conflist)/);
  node.sh(`sed -i -e '/"mtu"/d' -e 's/"type": "bridge",/"type": "bridge", "mtu": ${mtu},/' ${file}`);
  node.restartPod('c1');
}

const SPEAKS_OLD = `#!/bin/sh
case $CNI_COMMAND in
  VERSION) echo '{"cniVersion":"0.4.0","supportedVersions":["0.3.1","0.4.0"]}' ;;
  ADD) exec python3 -c 'import json,sys; c = json.load(sys.stdin); print(json.dumps(dict(c["prevResult"], cniVersion=c["cniVersion"])))' ;;
esac
`;

const FAULTS: readonly Fault[] = [
  {
    name: 'the binary of a plugin is missing',
    id: 'program/missing',
    stage: (node) => node.sh('rm /opt/cni/bin/portmap'),
  },
  {
    name: 'the binary of a plugin crashes',
    id: 'program/fails',
    stage: (node) => node.replacePlugin('portmap', '#!/bin/sh\nkill -SEGV $$\n'),
  },
  {
    name: 'the binary of a plugin is for another processor',
    id: 'program/unusable',
    stage(node) {
      const program = readFileSync('/bin/true');
      // e_machine (elf(5)): another than this machine's.
      program.writeUInt16LE(process.arch === 'arm64' ? 62 : 183, 18);
      node.replacePlugin('portmap', program);
    },
  },
  {
    name: 'two lists have one name',
    id: 'selection/duplicate-name',
    stage: (node) => node.sh(`sed s/cni0/cni1/ ${FILE} > /etc/cni/net.d/20-other.conflist`),
    byHand: (node, told) => node.sh(`rm ${word(told, /left over, \S+ or (\S+20-other\.conflist);/)}`),
  },
  {
    name: 'the file of another CNI sorts first',
    id: 'network/displaced',
    stage(node) {
      node.write('05-flannel.conflist', {
        cniVersion: '1.0.0',
        name: 'cbr0',
        plugins: [{ type: 'flannel' }],
      });
    },
  },
  {
    name: "the runtime's cache may not be written to",
    id: 'directory/unusable',
    stage: (node) => node.sh('chmod 000 /var/lib/cni'),
  },
  {
    name: 'the data directory may not be written to',
    id: 'directory/unusable',
    stage: (node) => node.sh('chmod 000 /var/lib/cni/networks'),
  },
  {
    name: 'a kubeconfig may not be read',
    id: 'directory/credentials',
    stage(node) {
      node.sh('touch /run/kubeconfig; echo kind: Config > /run/kubeconfig; chmod 000 /run/kubeconfig');
      node.sh(`sed -i 's/"type": "bridge",/"type": "bridge", "kubeconfig": "\\/run\\/kubeconfig",/' ${FILE}`);
    },
  },
  {
    name: 'a typing error in the version',
    id: 'version/malformed',
    stage: (node) => node.sh(`sed -i 's/"1.0.0"/"1.0"/' ${FILE}`),
  },
  {
    name: 'a plugin of the chain does not speak the version',
    id: 'program/version',
    stage(node) {
      node.replacePlugin('meter', SPEAKS_OLD);
      node.podnet({ ipam: { dataDir: undefined }, last: { type: 'meter' } });
    },
    byHand(node, told) {
      const version = word(told, /set "cniVersion" to "([\d.]+)"/);
      node.sh(`sed -i 's/"cniVersion": "1.0.0"/"cniVersion": "${version}"/' ${FILE}`);
    },
  },
  {
    name: 'the pool is used up',
    id: 'pool/exhausted',
    network: { ipam: { ranges: [[{ subnet: '10.45.0.0/30' }]], routes: [{ dst: '0.0.0.0/0' }] } },
    stage: (node) => assert.match(node.try('ip netns add c2; heddle add podnet c2').text, /no IP addresses/),
    byHand(node, told) {
      const [old, larger] = [word(told, /in place of (\S+)/), word(told, /such as (\S+)/)];
      node.sh(`sed -i 's|${old}|${larger}|' ${word(told, / in (\/\S+\.conflist)/)}`);
    },
  },
  {
    name: 'reservations are left from before a reboot',
    id: 'pool/leaked',
    stage(node) {
      node.sh('ip netns del c1');
      node.sh('touch -d "10 minutes ago" /var/lib/cni/networks/podnet/*');
    },
  },
  {
    name: 'packets are too large for the way',
    id: 'path/mtu-too-large',
    look: 'heddle doctor c1 --probe 198.51.100.9',
    stage({ router }) {
      router.run('ip link set up0 mtu 1400');
      router.run('nft add table inet silent');
      router.run('nft', 'add chain inet silent out { type filter hook output priority 0; policy accept; }');
      router.run('nft add rule inet silent out icmp type destination-unreachable drop');
    },
    byHand: writeMtu,
  },
  {
    name: "the node's end takes smaller packets than the container's",
    id: 'path/mtu-too-large',
    stage: (node) => node.sh(`ip link set ${hostVeth(node)} mtu 1400`),
  },
  {
    name: 'packets are needlessly small',
    id: 'path/mtu-too-small',
    network: { bridge: { mtu: 1280 } },
    stage: () => undefined,
    byHand: writeMtu,
  },
  {
    name: 'nothing enforces policies',
    id: 'policy/nobody',
    stage: (node) => node.restartPod('c1', AS_POD),
    byHand(node, told) {
      word(told, /have an engine run on this node: (kube-network-policies)/);
      // What that engine's start does.
      node.sh(ENGINE);
    },
  },
  {
    name: 'no runtime applies the DNS servers of the result',
    id: 'result/dns-not-applied',
    network: { bridge: { dns: { nameservers: ['10.96.0.10'] } } },
    stage(node) {
      node.sh(ENGINE);
      node.restartPod('c1', AS_POD);
    },
    byHand(node, told) {
      word(told, /take ("dns") out of the network, and start its pods anew/);
      const { plugins: [bridge = {}, ...others] = [], ...list } = JSON.parse(node.sh(`cat ${FILE}`));
      const { dns: _, ...rest } = bridge;
      node.write('10-podnet.conflist', { ...list, plugins: [rest, ...others] });
      node.restartPod('c1', AS_POD);
    },
  },
  {
    name: 'forwarding of IPv4 is off',
    id: 'kernel/forwarding-off',
    stage: (node) => node.sh('sysctl -qw net.ipv4.ip_forward=0'),
  },
  {
    name: 'forwarding of IPv6 is off',
    id: 'kernel/forwarding-off',
    stage: (node) => node.sh('sysctl -qw net.ipv6.conf.all.forwarding=0'),
  },
  {
    name: 'the policy of iptables drops',
    id: 'firewall/drops',
    skip: missing('iptables'),
    stage: (node) => node.sh('iptables -P FORWARD DROP; ip6tables -P FORWARD DROP'),
  },
  {
    name: 'Docker drops',
    id: 'firewall/drops',
    skip: missing('iptables'),
    stage: (node) =>
      node.sh('iptables -P FORWARD DROP; iptables -N DOCKER-USER; iptables -A FORWARD -j DOCKER-USER'),
  },
  {
    name: "a table of the operator's own drops",
    id: 'firewall/drops',
    stage: (node) =>
      node.sh(
        "nft add table inet mine; nft add chain inet mine fw '{ type filter hook forward priority 0; policy drop; }'",
      ),
  },
  {
    name: 'legacy iptables drops',
    id: 'firewall/drops',
    skip: missing('iptables-legacy'),
    stage: (node) => node.sh('iptables-legacy -P FORWARD DROP'),
  },
  {
    name: 'a container has taken the address of another',
    id: 'address/duplicate',
    stage(node) {
      node.startPod('c2');
      node.sh('ip -n c2 address add 10.45.0.2/24 dev eth0');
    },
  },
  {
    name: 'a machine behind the bridge has the address of a container',
    id: 'address/duplicate',
    stage(node) {
      node.sh(
        'ip netns add stranger; ip link add stranger type veth peer name eth0 netns stranger; ip link set stranger master cni0 up; ip -n stranger link set eth0 up; ip -n stranger address add 10.45.0.2/24 dev eth0',
      );
    },
    byHand(node, told) {
      word(told, /take the address from (whoever was not given it by the network)/);
      node.sh('ip -n stranger address del 10.45.0.2/24 dev eth0');
    },
  },
  {
    name: 'a hairpin is refused',
    id: 'port/hairpin',
    network: { bridge: { hairpinMode: true } },
    stage: (node) => node.sh(`bridge link set dev ${hostVeth(node)} hairpin off`),
  },
  {
    name: 'the routes of the container are gone',
    id: 'attachment/no-route',
    stage: (node) => node.sh('ip -n c1 route del default; ip -n c1 -6 route del default'),
  },
  {
    name: "the node's route is gone",
    id: 'attachment/no-host-route',
    stage: (node) => node.sh('ip route del 10.45.0.0/24 dev cni0'),
  },
  {
    name: 'the node itself has the address of a container',
    id: 'attachment/no-host-route',
    stage: (node) => node.sh('ip address add 10.45.0.2/32 dev lo'),
  },
  {
    name: "the node's end is down",
    id: 'attachment/link-down',
    stage: (node) => node.sh(`ip link set ${hostVeth(node)} down`),
  },
  {
    name: "the container's end is down",
    id: 'attachment/link-down',
    stage: (node) => node.sh('ip -n c1 link set eth0 down'),
  },
  {
    name: 'the bridge is down',
    id: 'attachment/link-down',
    stage: (node) => node.sh('ip link set cni0 down'),
  },
  {
    name: 'a published port leads to a dead pod',
    id: 'port/stale',
    stage(node) {
      node.restartPod('c1', PUBLISHED);
      node.sh('ip netns del c1');
    },
  },
];

/** So many findings may follow one from another. */
const MOST = 4;

describe('mended by what is printed', () => {
  for (const { name, id, network = {}, stage, look = 'heddle doctor', byHand, skip = false } of FAULTS) {
    test(name, { skip }, async () => {
      using node = await OperatorNode.start(network);
      node.startPod('c1');
      stage(node);
      let printed = node.look(look);
      assert.equal(printed.findings[0]?.id, id, printed.text);
      for (let turn = 0; turn < MOST && printed.findings.length > 0; turn++) {
        const [first] = printed.findings as [Told];
        if (first.commands.length > 0) for (const command of first.commands) node.type(command);
        else {
          assert.ok(byHand !== undefined, `there is something to type: ${printed.text}`);
          byHand(node, first);
        }
        printed = node.look(look);
      }
      assert.match(printed.text, /^nothing found \(/m);
      node.sh('heddle run podnet -- ping -n -c 1 -W 5 192.0.2.1');
    });
  }
});

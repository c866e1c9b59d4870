import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CniError } from '@heddle/cni';
import { parseSubnetEnv, readSubnetEnv } from './subnet-env.ts';

const PATH = '/run/flannel/subnet.env';

function parse(text: string) {
  const { networks, subnets, ...rest } = parseSubnetEnv(text, PATH);
  return { networks: networks.map(String), subnets: subnets.map(String), ...rest };
}

function refusal(text: string): string {
  try {
    parseSubnetEnv(text, PATH);
  } catch (error) {
    assert.ok(error instanceof CniError);
    assert.equal(error.cniCode, 6);
    return error.msg;
  }
  return '';
}

test('the node’s subnets are networks, IPv4 first, whatever the order of the lines', () => {
  const text =
    'FLANNEL_IPV6_SUBNET=fc00:0:0:1::1/64\nFLANNEL_IPV6_NETWORK=fc00::/48\nFLANNEL_NETWORK=10.1.0.0/16\n' +
    'FLANNEL_SUBNET=10.1.17.1/24\nFLANNEL_MTU=1450\nFLANNEL_IPMASQ=true\n';
  assert.deepEqual(parse(text), {
    networks: ['10.1.0.0/16', 'fc00::/48'],
    subnets: ['10.1.17.0/24', 'fc00:0:0:1::/64'],
    mtu: 1450,
    masquerades: true,
  });
});

test('a cluster may have several networks, each counted once; other lines do not matter', () => {
  const text =
    '# made by hand\n\nFLANNEL_NETWORK=10.1.0.0/16,192.168.0.0/16,10.1.2.3/16\nFLANNEL_SUBNET=10.1.17.1/24\r\n' +
    'FLANNEL_MTU=1450\nFLANNEL_IPMASQ=yes\nFLANNEL_NEW\n';
  const { networks, subnets, masquerades } = parse(text);
  assert.deepEqual(networks, ['10.1.0.0/16', '192.168.0.0/16']);
  assert.deepEqual(subnets, ['10.1.17.0/24']);
  assert.equal(masquerades, false);
});

test('what is missing is named', () => {
  assert.equal(
    refusal('FLANNEL_MTU=1450\nFLANNEL_IPV6_NETWORK=\n'),
    'loadFlannelSubnetEnv failed: /run/flannel/subnet.env is missing FLANNEL_NETWORK, FLANNEL_IPV6_NETWORK, FLANNEL_SUBNET, FLANNEL_IPV6_SUBNET, FLANNEL_IPMASQ',
  );
});

test('what makes no sense is named', () => {
  const rest = 'FLANNEL_NETWORK=10.1.0.0/16\nFLANNEL_IPMASQ=true\n';
  assert.match(
    refusal(`${rest}FLANNEL_SUBNET=10.1.17.1\nFLANNEL_MTU=1450`),
    /FLANNEL_SUBNET: invalid CIDR address: 10\.1\.17\.1$/,
  );
  assert.match(
    refusal(`${rest}FLANNEL_SUBNET=10.1.17.1/24\nFLANNEL_MTU=-1`),
    /FLANNEL_MTU is no number: -1$/,
  );
});

test('as long as the file is not there, one may try again', () => {
  assert.throws(() => readSubnetEnv('/nowhere/subnet.env'), {
    cniCode: 11,
    msg: 'loadFlannelSubnetEnv failed: open /nowhere/subnet.env: no such file or directory',
  });
});

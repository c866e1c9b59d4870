/**
 * What Flannel's daemon tells the node's plugins: the file `subnet.env`, lines of `NAME=value`. It is there as soon as
 * the node has its part of the cluster's network.
 */
import { readFileSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import { CNI_CODE, CniError, UnavailableError } from '@heddle/cni';
import { Prefix } from '@heddle/netaddr';

/** The content of the file. */
export interface SubnetEnv {
  /** The cluster's networks, IPv4 first. */
  readonly networks: readonly Prefix[];
  /** The node's part of them: one subnet for each family. */
  readonly subnets: readonly Prefix[];
  /** What packets of containers may measure, the encapsulation allowed for. */
  readonly mtu: number;
  /** Whether the daemon masquerades what leaves the cluster. */
  readonly masquerades: boolean;
}

/**
 * Reads the file.
 *
 * @throws {UnavailableError} code 11 while there is none
 * @throws {CniError} code 5 when it cannot be read, code 6 when it says too little or something else
 */
export function readSubnetEnv(path: string): SubnetEnv {
  return parseSubnetEnv(readText(path), path);
}

/** The same for those who can do without: `undefined` when the file is not there, or not usable. */
export function findSubnetEnv(path: string): SubnetEnv | undefined {
  try {
    return readSubnetEnv(path);
  } catch {
    return undefined;
  }
}

/**
 * Parses the text of such a file.
 *
 * @param path names the file in messages
 * @throws {CniError} code 6
 */
export function parseSubnetEnv(text: string, path: string): SubnetEnv {
  const values = new Map(text.split('\n').flatMap(assignment));
  const prefixes = (name: string) => values.get(name)?.split(',').map(prefixIn(path, name)) ?? [];
  const networks = [...prefixes('FLANNEL_NETWORK'), ...prefixes('FLANNEL_IPV6_NETWORK')];
  const subnets = [...prefixes('FLANNEL_SUBNET'), ...prefixes('FLANNEL_IPV6_SUBNET')];
  const mtu = values.get('FLANNEL_MTU');
  const masquerades = values.get('FLANNEL_IPMASQ');
  const missing = [
    ...(networks.length === 0 ? ['FLANNEL_NETWORK', 'FLANNEL_IPV6_NETWORK'] : []),
    ...(subnets.length === 0 ? ['FLANNEL_SUBNET', 'FLANNEL_IPV6_SUBNET'] : []),
    ...(mtu === undefined ? ['FLANNEL_MTU'] : []),
    ...(masquerades === undefined ? ['FLANNEL_IPMASQ'] : []),
  ];
  if (missing.length > 0) throw malformed(`${path} is missing ${missing.join(', ')}`);
  if (!/^\d{1,9}$/.test(mtu ?? '')) throw malformed(`${path}: FLANNEL_MTU is no number: ${mtu}`);
  return {
    networks: networks.filter((each, index) => networks.findIndex((one) => one.equals(each)) === index),
    subnets,
    mtu: Number(mtu),
    masquerades: masquerades === 'true',
  };
}

/** A name and its value; a name without one counts as not there. */
function assignment(line: string): readonly (readonly [string, string])[] {
  const at = line.indexOf('=');
  const value = line.slice(at + 1).trim();
  return at < 0 || value === '' ? [] : [[line.slice(0, at).trim(), value]];
}

function prefixIn(path: string, name: string): (text: string) => Prefix {
  return (text) => {
    const prefix = Prefix.tryParse(text);
    if (prefix === undefined) throw malformed(`${path}: ${name}: invalid CIDR address: ${text}`);
    return prefix.masked();
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const { code, errno } = cause as NodeJS.ErrnoException;
    const why = errno === undefined ? String(cause) : getSystemErrorMessage(errno);
    const msg = `${PREFIX}: open ${path}: ${why}`;
    if (code !== 'ENOENT') throw new CniError(CNI_CODE.IO_FAILURE, msg, { cause });
    throw new UnavailableError('TRY_AGAIN', msg, {
      cause,
      hint: "flanneld writes it as soon as the node has a subnet: see the daemon's log if that takes long",
    });
  }
}

function malformed(what: string): CniError {
  return new CniError(CNI_CODE.DECODING_FAILURE, `${PREFIX}: ${what}`, { code: 'DECODE_FAILED' });
}

const PREFIX = 'loadFlannelSubnetEnv failed';

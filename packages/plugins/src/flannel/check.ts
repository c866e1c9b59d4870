import { isJsonObject, type JsonObject, type JsonValue } from '@heddle/cni';
import { type CheckCall, memberOf } from '@heddle/cni/plugin';
import { type Findings, reportDrift } from '../interface/findings.ts';
import { findingsOf } from '../interface/masquerade.ts';
import type { FlannelConfig } from './config.ts';
import { delegateConfig, repeated } from './delegate-config.ts';
import { type Places, savedConfigsOf, subnetFileOf } from './places.ts';
import { findSubnetEnv } from './subnet-env.ts';

/**
 * CHECK: the delegate finds what it set up, what it was told is still written down, and the node's subnet is still
 * the one that the attachment's addresses are from.
 */
export async function check(call: CheckCall<FlannelConfig>, places: Places): Promise<void> {
  const { containerID, network } = call;
  const saved = savedConfigsOf(call, places).find(containerID)?.config;
  const isOwn = saved !== undefined && memberOf(saved, 'name') === network;
  const env = findSubnetEnv(subnetFileOf(call, places));
  const current = delegateConfig(call, env);
  reportDrift([
    ...(saved === undefined ? [`what the delegate was told for ${containerID} is not written down`] : []),
    ...(isOwn && env !== undefined ? subnetFindings(saved, current) : []),
    ...(await findingsOf(() => call.delegate(repeated(isOwn ? saved : current, call)).check())),
  ]);
}

/** Containers keep the addresses of a subnet that the node has no more, and nobody reaches them. */
function subnetFindings(then: JsonObject, now: JsonObject): Findings {
  const current = subnetsIn(now);
  const gone = subnetsIn(then).filter((subnet) => !current.includes(subnet));
  return gone.map(
    (subnet) => `${subnet} is no subnet of this node any more: it has ${current.join(' and ')}`,
  );
}

function subnetsIn(config: JsonObject): readonly string[] {
  const lists = (value: JsonValue | undefined) => (Array.isArray(value) ? (value as JsonValue[]) : []);
  const ipam = config['ipam'];
  const ranges = isJsonObject(ipam) ? lists(ipam['ranges']).flatMap(lists) : [];
  return ranges.flatMap((range) => {
    const subnet = isJsonObject(range) ? range['subnet'] : undefined;
    return typeof subnet === 'string' ? [subnet] : [];
  });
}

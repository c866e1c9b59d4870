/** ADD: the link in the container, with its addresses. */
import type { Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import { applyResult } from '../interface/apply-result.ts';
import { singleResult } from '../interface/single-result.ts';
import { randomMac } from '../interface/veth.ts';
import { type DummyConfig, requireIpam } from './config.ts';

/** See the file's comment. Whatever fails, the call's undo stack takes back what was done. */
export async function add(call: AddCall<DummyConfig>): Promise<Result> {
  const { config, container, ifName, undo } = call;
  requireIpam(config);
  // Given here, it is the container's own whatever watches for new links there.
  const mac = randomMac(call.random);
  await container.links.add({ name: ifName, kind: 'dummy', mac });
  undo.push(`delete link ${ifName}`, () => container.links.delete(ifName));
  const { index } = await container.links.get(ifName);
  const given = await call.ipam.add();
  const result = singleResult(call, mac, given, given.dns);
  await applyResult(container, { name: ifName, index }, result, {
    duplicateDetection: false,
    warn: (message) => call.warn(message),
  });
  return result;
}

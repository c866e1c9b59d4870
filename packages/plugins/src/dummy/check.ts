/** CHECK: the link is still what ADD made of it. */
import type { CheckCall } from '@heddle/cni/plugin';
import {
  checkLink,
  checkNetworkLayer,
  containerInterface,
  reportDrift,
  requirePrevResult,
} from '../interface/findings.ts';
import { type DummyConfig, requireIpam } from './config.ts';

/** See the file's comment. All that is different is reported at once. */
export async function check(call: CheckCall<DummyConfig>): Promise<void> {
  const { config, container, ifName } = call;
  requireIpam(config);
  await call.ipam.check();
  const result = requirePrevResult(call.prevResult);
  const { index, entry } = containerInterface(result, ifName, call.netnsPath);
  const link = await container.links.find(ifName);
  reportDrift([
    ...checkLink(ifName, link, { kind: 'dummy', up: true, mac: entry.mac }),
    ...(link === undefined ? [] : await checkNetworkLayer(container, link, result, index)),
  ]);
}

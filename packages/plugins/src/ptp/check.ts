/** CHECK: the attachment is still what ADD made of it, at both ends. */
import type { Result } from '@heddle/cni';
import type { CheckCall } from '@heddle/cni/plugin';
import type { Link } from '@heddle/netlink';
import { addressesOf } from '../interface/apply-result.ts';
import {
  checkLink,
  checkNetworkLayer,
  containerInterface,
  type Findings,
  onlyOf,
  reportDrift,
  requirePrevResult,
} from '../interface/findings.ts';
import { hostEndFindings, missingRoutes } from '../interface/host-end.ts';
import { masqueradeFindings } from '../interface/masquerade.ts';
import type { PtpConfig } from './config.ts';
import { containerRoutes, hostAddresses, hostRoutes, type RoutedAddress } from './routing.ts';

type Call = CheckCall<PtpConfig>;

/** See the file's comment. All that is different is reported at once. */
export async function check(call: Call): Promise<void> {
  const { config, container, ifName } = call;
  await call.ipam.check();
  const whole = requirePrevResult(call.prevResult);
  const { index, entry } = containerInterface(whole, ifName, call.netnsPath);
  const result = onlyOf(whole, index);
  const inside = await container.links.find(ifName);
  reportDrift([
    ...checkLink(ifName, inside, { kind: 'veth', up: true, mac: entry.mac }),
    ...(inside === undefined ? [] : await checkEnds(call, inside, result, index)),
    ...(config.ipMasq ? await masqueradeFindings(call, result) : []),
  ]);
}

async function checkEnds(call: Call, inside: Link, result: Result, index: number): Promise<Findings> {
  const { host, container, ifName } = call;
  const addresses = addressesOf(ifName, result).filter(
    (address): address is RoutedAddress => address.gateway !== undefined,
  );
  const layer3 = await checkNetworkLayer(container, inside, result, index);
  // The routes to the networks are among them already.
  const toGateways = containerRoutes(inside.index, addresses).filter(({ gateway }) => gateway === undefined);
  return [
    ...layer3,
    ...(await missingRoutes(container, inside, toGateways)),
    ...(await hostEndFindings(host, inside, result, {
      addresses: hostAddresses(addresses),
      routes: (link) => hostRoutes(link, addresses),
    })),
  ];
}

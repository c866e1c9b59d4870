/** What `heddle` and `heddle-ipam` do alike with addresses of the cluster. */
import { type Result, UnavailableError } from '@heddle/cni';
import type { AddCall, CheckCall, GcCall, StatusCall } from '@heddle/cni/plugin';
import { HeddleError } from '@heddle/errors';
import type { AddressRequest, ClusterAddresses, Given } from '@heddle/ipam/cluster';
import { Addr, Prefix } from '@heddle/netaddr';
import type { AddressChoice, AddressSource } from './config.ts';

/** The gateways of pods: addresses that no network has, and every node answers for on its pods' links alone. */
export const GATEWAYS = { 4: Addr.parse('169.254.1.1'), 6: Addr.parse('fe80::1') } as const;

/** Takes addresses, and has them given back when the ADD fails later. */
export async function takeAddresses(
  call: AddCall<unknown>,
  addresses: ClusterAddresses,
  request: AddressRequest,
): Promise<Given> {
  let isHeldAlready = false;
  // An answer that is lost may have taken something.
  call.undo.push('give the addresses back', async () => {
    if (!isHeldAlready) await addresses.give(call.attachment);
  });
  try {
    return await addresses.take(request);
  } catch (error) {
    isHeldAlready = error instanceof HeddleError && error.code === 'IPAM_DUPLICATE';
    throw error;
  }
}

/** What an attachment uses that it does not hold. */
export async function heldFindings(
  call: CheckCall<unknown>,
  addresses: ClusterAddresses,
  result: Result | undefined,
): Promise<readonly string[]> {
  const { attachment, containerID, ifName } = call;
  const held = (await addresses.held(attachment))?.addresses ?? [];
  if (held.length === 0) return [`${ifName} of ${containerID} holds no address of the cluster`];
  const used = (result?.ips ?? []).map(({ address }) => Prefix.parse(address).addr);
  const missing = held.filter(({ address }) => !used.some((addr) => addr.equals(address.addr)));
  return result?.ips === undefined
    ? []
    : missing.map(({ address }) => `${ifName} of ${containerID} holds ${address.addr}, but does not use it`);
}

/** Gives back what attachments hold that are not valid any more. */
export async function giveStale(call: GcCall<unknown>, addresses: ClusterAddresses): Promise<void> {
  const stale = await call.stale(
    () => addresses.list(call.network),
    ({ containerID, ifName }) => ({ containerID, ifName }),
  );
  for (const held of stale) {
    await call.teardown.step(`give back the addresses of ${held.containerID}`, () =>
      addresses.give(held, held.at),
    );
  }
}

/** STATUS. @throws {UnavailableError} code 50 with the node's reason */
export async function requireReadiness(
  call: StatusCall<unknown>,
  source: AddressSource,
  choice: AddressChoice,
): Promise<void> {
  const { families, pools, statusOnExhaustion } = choice;
  const room = {
    ...(families !== undefined && families.length > 0 && { families }),
    ...(pools !== undefined && pools.length > 0 && { pools }),
  };
  const readiness = await source(choice).status(statusOnExhaustion === true ? room : undefined);
  if (readiness.ready) {
    for (const warning of readiness.warnings) call.warn(warning);
    return;
  }
  const { reason, hint } = readiness;
  throw new UnavailableError('NOT_READY', reason, { ...(hint !== undefined && { hint }) });
}

/** The daemon as the plugin sees it: what it is asked, and its refusals in the words of the plugin. */
import { resolve } from 'node:path';
import { CNI_CODE, CniError } from '@heddle/cni';
import type { AttachmentCall, BaseCall } from '@heddle/cni/plugin';
import { askDaemon, DhcpError, type LeaseOwner, type Question, UnattendedLeases } from '@heddle/dhcp';
import { type DhcpConfig, providedOptions, requestedOptions, socketPathOf } from './config.ts';
import type { Places } from './places.ts';

/** Whose lease a call is about. */
export function ownerOf({ attachment }: AttachmentCall<DhcpConfig>): LeaseOwner {
  const { network, containerID, ifName } = attachment;
  return { network, containerID, ifName };
}

/** What a lease is asked for with. */
export function requestOf(call: AttachmentCall<DhcpConfig>) {
  const { config, netnsPath, cniArgs } = call;
  return {
    owner: ownerOf(call),
    // The daemon has another working directory.
    netns: resolve(netnsPath),
    provide: providedOptions(config, cniArgs),
    parameters: requestedOptions(config),
  };
}

/**
 * Asks the daemon.
 *
 * @throws {CniError} with the reference's beginning: `error dialing DHCP daemon: `, or that of the call
 */
export async function ask<Q extends Question>(call: BaseCall<DhcpConfig>, question: Q) {
  try {
    return await askDaemon(socketPathOf(call.config), question);
  } catch (error) {
    throw error instanceof DhcpError ? refusal(error, question.ask) : error;
  }
}

/**
 * Gives a lease back. Where no daemon runs, the plugin does it itself, with what the daemon saved: a container must
 * not be kept from going away.
 */
export async function giveBack(call: BaseCall<DhcpConfig>, owner: LeaseOwner, places: Places): Promise<void> {
  await orUnattended(
    call,
    places,
    async () => void (await ask(call, { ask: 'release', owner })),
    (leases) => leases.release(owner),
  );
}

/** Who of this network has a lease. */
export async function leaseOwners(
  call: BaseCall<DhcpConfig>,
  places: Places,
): Promise<readonly LeaseOwner[]> {
  const owners = await orUnattended(
    call,
    places,
    async () => (await ask(call, { ask: 'list' })).map(({ owner }) => owner),
    async (leases) => leases.owners(),
  );
  return owners.filter(({ network }) => network === call.network);
}

async function orUnattended<T>(
  call: BaseCall<DhcpConfig>,
  { stateDir }: Places,
  attended: () => Promise<T>,
  unattended: (leases: UnattendedLeases) => Promise<T>,
): Promise<T> {
  try {
    return await attended();
  } catch (error) {
    if (!(error instanceof CniError && isAbsent(error.cause))) throw error;
    // A lease that the reference's daemon keeps runs out when its interface is gone.
    if (!isUnreachable(error.cause)) call.warn(error.message);
    return await unattended(
      new UnattendedLeases({
        socketPath: socketPathOf(call.config),
        stateDir,
        random: () => new DataView(call.random.bytes(4).buffer).getUint32(0) / 2 ** 32,
        log: (message) => call.warn(message),
      }),
    );
  }
}

/** Whether our daemon is not there, whoever else may be. */
function isAbsent(error: unknown): boolean {
  return isUnreachable(error) || DhcpError.is(error, 'DHCP_DAEMON_FOREIGN');
}

function isUnreachable(error: unknown): boolean {
  return DhcpError.is(error, 'DHCP_DAEMON_UNREACHABLE');
}

/** The names that the reference's calls have in its errors. */
const CALLS: Readonly<Record<Question['ask'], string>> = {
  greet: 'DHCP.Greet',
  acquire: 'DHCP.Allocate',
  adopt: 'DHCP.Adopt',
  find: 'DHCP.Find',
  release: 'DHCP.Release',
  list: 'DHCP.List',
};

function refusal(error: DhcpError, asked: Question['ask']): CniError {
  const hint = error.hint === undefined ? {} : { hint: error.hint };
  if (error.code !== 'DHCP_DAEMON_FAILED') {
    const code = isUnreachable(error) ? CNI_CODE.TRY_AGAIN : CNI_CODE.IPAM;
    return new CniError(code, `error dialing DHCP daemon: ${error.message}`, { cause: error, ...hint });
  }
  // No server, or none with a free address: that may pass.
  const code = error.details?.['code'] === 'DHCP_NO_ANSWER' ? CNI_CODE.TRY_AGAIN : CNI_CODE.IPAM;
  return new CniError(code, `error calling ${CALLS[asked]}: ${error.message}`, { cause: error });
}

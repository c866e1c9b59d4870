/** Giving a lease back — RFC 2131 §4.4.6. */
import { HeddleError } from '@heddle/errors';
import type { Addr, Mac } from '@heddle/netaddr';
import type { Lease } from './lease.ts';
import type { Client, LinkChannel } from './ports.ts';
import { giveBack } from './requests.ts';

/**
 * Tells the server that the address is free again. There is no answer, so it may get lost; the lease then runs out.
 *
 * @throws {DhcpError} DHCP_INTERFACE_GONE
 */
export async function release(client: Client, { prefix, server, serverMac }: Lease): Promise<void> {
  using channel = await client.link.openLink();
  send(client, channel, { address: prefix.addr, server, mac: serverMac });
}

/** The same for a lease that came too late or cannot be used, where the failure to do so does not matter any more. */
export function throwBack(client: Client, channel: LinkChannel, returned: Returned): void {
  try {
    send(client, channel, returned);
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    client.log(`${returned.address} was not given back: ${error.message}`);
  }
}

/** What is given back, to whom. */
export interface Returned {
  readonly address: Addr;
  readonly server: Addr;
  /** The neighbour that leads to the server. */
  readonly mac?: Mac | undefined;
}

function send(client: Client, channel: LinkChannel, { address, server, mac }: Returned): void {
  const attempt = { xid: Math.floor(client.random() * 2 ** 32), elapsed: 0 };
  // Past the host's own IP, whose address and routes may be gone already.
  channel.send(giveBack(client, attempt, address, server), { from: address, to: server, mac });
}

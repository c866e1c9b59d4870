/** Giving a lease back — RFC 2131 §4.4.6. */
import type { Lease } from './lease.ts';
import type { Client } from './ports.ts';
import { giveBack } from './requests.ts';

/**
 * Tells the server that the address is free again. There is no answer, so it may get lost; the lease then runs out.
 *
 * @throws {DhcpError} DHCP_INTERFACE_GONE
 */
export async function release(client: Client, lease: Lease): Promise<void> {
  using channel = await client.link.openLink();
  const attempt = { xid: Math.floor(client.random() * 2 ** 32), elapsed: 0 };
  const { server, serverMac, prefix } = lease;
  // Past the host's own IP, whose address and routes may be gone already.
  channel.send(giveBack(client, attempt, prefix.addr, server), {
    from: prefix.addr,
    to: server,
    mac: serverMac,
  });
}

/** Addresses that somebody asked for: in CNI_ARGS, in the configuration's `args`, or as the capability `ips`. */
import { UsageError } from '@heddle/cni';
import { Addr, Prefix } from '@heddle/netaddr';
import * as v from 'valibot';

/** One address in a configuration. The empty text is allowed and means that none is set. */
export const requestedIp = v.pipe(
  v.string(),
  v.check(
    (text) => text === '' || readAddr(text) !== undefined,
    ({ input }) => `invalid IP address: ${input}`,
  ),
  v.title('IP address'),
);

/**
 * The addresses, in their order. A prefix length is ignored.
 *
 * @param fromArgs the value of `IP` in CNI_ARGS
 * @param others what {@link requestedIp} has let pass
 * @throws {UsageError} when `fromArgs` is no address
 */
export function requestedAddresses(fromArgs: string, others: readonly string[]): readonly Addr[] {
  if (fromArgs !== '' && readAddr(fromArgs) === undefined) {
    const pair = JSON.stringify(`IP=${fromArgs}`);
    throw new UsageError(`ARGS: error parsing value of pair ${pair}: invalid IP address ${fromArgs}`, {
      code: 'ARGS_INVALID',
    });
  }
  return [fromArgs, ...others].map(readAddr).filter((addr) => addr !== undefined);
}

function readAddr(text: string): Addr | undefined {
  return (Prefix.tryParse(text)?.addr ?? Addr.tryParse(text))?.unmap();
}

import { CniError, UnavailableError } from '@heddle/cni';
import type { StatusCall } from '@heddle/cni/plugin';
import type { DhcpConfig } from './config.ts';
import { ask } from './leases.ts';

/** STATUS: the daemon is there. @throws {UnavailableError} code 50 when it is not */
export async function status(call: StatusCall<DhcpConfig>): Promise<void> {
  try {
    await ask(call, { ask: 'greet' });
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    throw new UnavailableError('NOT_READY', error.msg, {
      cause: error,
      ...(error.hint !== undefined && { hint: error.hint }),
    });
  }
}

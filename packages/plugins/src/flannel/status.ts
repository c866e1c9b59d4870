import { toCniError, UnavailableError } from '@heddle/cni';
import type { StatusCall } from '@heddle/cni/plugin';
import type { FlannelConfig } from './config.ts';
import { delegateConfig } from './delegate-config.ts';
import { type Places, subnetFileOf } from './places.ts';
import { readSubnetEnv, type SubnetEnv } from './subnet-env.ts';

/** @throws {UnavailableError} code 50 while Flannel's daemon does not tell the node's subnet; else what the delegate says */
export async function status(call: StatusCall<FlannelConfig>, places: Places): Promise<void> {
  await call.delegate(delegateConfig(call, subnetEnv(subnetFileOf(call, places)))).status();
}

function subnetEnv(path: string): SubnetEnv {
  try {
    return readSubnetEnv(path);
  } catch (cause) {
    const { msg, hint } = toCniError(cause);
    throw new UnavailableError('NOT_READY', msg, { cause, ...(hint !== undefined && { hint }) });
  }
}

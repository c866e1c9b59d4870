/** STATUS: whether an ADD would find what it needs. */
import { UnavailableError } from '@heddle/cni';
import type { StatusCall } from '@heddle/cni/plugin';
import { SysError } from '@heddle/sys';
import type { TapConfig } from './config.ts';
import { openCloneDevice } from './device.ts';

/** @throws {UnavailableError} code 50 when the kernel makes no tap devices; else what address management says */
export async function status({ ipam }: StatusCall<TapConfig>): Promise<void> {
  try {
    openCloneDevice(undefined).close();
  } catch (cause) {
    if (!(cause instanceof SysError)) throw cause;
    throw new UnavailableError('NOT_READY', `no tap devices can be made: ${cause.message}`, {
      cause,
      hint: 'load the kernel module tun',
    });
  }
  if (ipam.type !== '') await ipam.status();
}

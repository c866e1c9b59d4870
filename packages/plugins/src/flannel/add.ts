import type { Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import type { FlannelConfig } from './config.ts';
import { delegateConfig } from './delegate-config.ts';
import { type Places, savedConfigsOf, subnetFileOf } from './places.ts';
import { readSubnetEnv } from './subnet-env.ts';

/** ADD: the delegate sets the attachment up. What it is told is written down first, for DEL to repeat. */
export async function add(call: AddCall<FlannelConfig>, places: Places): Promise<Result> {
  const config = delegateConfig(call, readSubnetEnv(subnetFileOf(call, places)));
  const takeBack = savedConfigsOf(call, places).save(call.containerID, config);
  call.undo.push('forget the configuration of the delegate', async () => takeBack());
  return call.delegate(config).add();
}

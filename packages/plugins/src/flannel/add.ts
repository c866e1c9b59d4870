import { CNI_CODE, CniError, type Result } from '@heddle/cni';
import { type AddCall, passOn } from '@heddle/cni/plugin';
import type { FlannelConfig } from './config.ts';
import { delegateConfig } from './delegate-config.ts';
import { type Places, savedConfigsOf, subnetFileOf } from './places.ts';
import { readSubnetEnv } from './subnet-env.ts';

/** ADD: the delegate sets the attachment up. What it is told is written down first, for DEL to repeat. */
export async function add(call: AddCall<FlannelConfig>, places: Places): Promise<Result> {
  await refuseTakenName(call);
  const config = delegateConfig(call, readSubnetEnv(subnetFileOf(call, places)));
  const takeBack = savedConfigsOf(call, places).save(call.containerID, config);
  call.undo.push('forget the configuration of the delegate', async () => takeBack());
  const result = await call.delegate(config).add();
  return call.prevResult === undefined ? result : passOn(call.prevResult, result);
}

/** The delegate would refuse it, and its DEL, which undoes a failed ADD, would then take away what is another network's. */
async function refuseTakenName({ container, ifName }: AddCall<FlannelConfig>): Promise<void> {
  if ((await container.links.find(ifName)) === undefined) return;
  throw new CniError(CNI_CODE.EXISTS, `the container has an interface ${ifName} already`);
}

import { type DelCall, memberOf } from '@heddle/cni/plugin';
import type { FlannelConfig } from './config.ts';
import { delegateConfig, repeated } from './delegate-config.ts';
import { type Places, savedConfigsOf, subnetFileOf } from './places.ts';
import { findSubnetEnv } from './subnet-env.ts';

/**
 * DEL: the delegate takes down what it was told to set up, or if that was not written down, what it would be told
 * now. What was written down stays until that has worked.
 */
export async function del(call: DelCall<FlannelConfig>, places: Places): Promise<void> {
  const { containerID, network, teardown } = call;
  const files = savedConfigsOf(call, places);
  const file = await teardown.step('find what the delegate was told', () => files.find(containerID));
  if (file !== undefined && file.config === undefined) {
    call.warn(`what the delegate was told for ${containerID} cannot be read any more; going on without it`);
  }
  // Another network's interface of the same container has the same file.
  const isOwn = file?.config === undefined || memberOf(file.config, 'name') === network;
  const env = findSubnetEnv(subnetFileOf(call, places));
  const current = env === undefined ? undefined : delegateConfig(call, env);
  const config = (isOwn ? file?.config : undefined) ?? current;
  const isDown =
    config === undefined ||
    (await teardown.step('have the delegate take it down', async () => {
      await call.delegate(repeated(config, call)).del();
      return true;
    }));
  if (isDown && file !== undefined && isOwn) {
    await teardown.step('forget the configuration of the delegate', () => files.remove(containerID));
  }
  await teardown.step('remove what was left unfinished', () => files.tidy(containerID));
}

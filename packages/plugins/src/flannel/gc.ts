import type { JsonObject } from '@heddle/cni';
import { type GcCall, memberOf } from '@heddle/cni/plugin';
import type { FlannelConfig } from './config.ts';
import { delegateConfig, repeated } from './delegate-config.ts';
import { type Places, savedConfigsOf } from './places.ts';

/**
 * GC: the delegate collects what belongs to nobody; so does one that the network had before, as long as stale
 * attachments tell of it. Then what was written down for these is forgotten.
 */
export async function gc(call: GcCall<FlannelConfig>, places: Places): Promise<void> {
  const { network, teardown } = call;
  const files = savedConfigsOf(call, places);
  const stale = await teardown.step('find stale configurations of the delegate', () =>
    call.stale(
      async () => files.list(),
      ({ containerID, config }) =>
        config !== undefined && memberOf(config, 'name') === network ? { containerID } : undefined,
    ),
  );
  const configs = new Map<string, JsonObject>();
  for (const { config = {} } of stale ?? []) configs.set(String(memberOf(config, 'type')), config);
  configs.set(call.config.delegate.type, delegateConfig(call, undefined));

  for (const [type, config] of configs) {
    await teardown.step(`have ${type} collect garbage`, () => call.delegate(repeated(config, call)).gc());
  }
  for (const { containerID } of stale ?? []) {
    await teardown.step('forget the configuration of the delegate', () => files.remove(containerID));
  }
}

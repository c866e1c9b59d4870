/** The configuration that the delegate gets: the operator's wishes, and the rest as Flannel's daemon would have it. */
import type { JsonObject } from '@heddle/cni';
import { ATTACHMENTS, type BaseCall, memberOf, VALID_ATTACHMENTS } from '@heddle/cni/plugin';
import type { FlannelConfig } from './config.ts';
import type { SubnetEnv } from './subnet-env.ts';

/**
 * Makes the configuration, with the same members as the reference's plugin. Without `env`, when it is only about
 * taking something down, what depends on it is left out.
 *
 * @example
 * delegateConfig({ network: 'cbr0', raw: {}, config }, env)
 * // { name: 'cbr0', type: 'bridge', isGateway: true, ipMasq: false, mtu: 1450, ipam: { type: 'host-local', … } }
 */
export function delegateConfig(
  { network, raw, config }: Pick<BaseCall<FlannelConfig>, 'network' | 'raw' | 'config'>,
  env: SubnetEnv | undefined,
): JsonObject {
  const { delegate, ipam, runtimeConfig } = config;
  const cniVersion = memberOf(raw, 'cniVersion');
  const made = {
    ...(env !== undefined && { ipMasq: !env.masquerades, mtu: env.mtu }),
    ...(delegate.type === 'bridge' && { isGateway: true }),
    ...delegate,
    name: network,
    ...(cniVersion !== undefined && cniVersion !== '' && { cniVersion }),
    ...(runtimeConfig !== undefined && { runtimeConfig }),
    ipam: {
      ...ipam,
      ...(env !== undefined && {
        ranges: env.subnets.map((subnet) => [{ subnet: `${subnet}` }]),
        routes: [...ipam.routes, ...env.networks.map((network) => ({ dst: `${network}` }))],
      }),
    },
  };
  // Everything is from JSON, or a text, number or list of such.
  return made as unknown as JsonObject;
}

/**
 * A configuration as the verbs after ADD hand it to the delegate: in the version that the call speaks, which may have
 * changed since it was made, and with what the runtime tells these verbs.
 */
export function repeated(config: JsonObject, { raw }: Pick<BaseCall<FlannelConfig>, 'raw'>): JsonObject {
  const told = ['cniVersion', 'prevResult', VALID_ATTACHMENTS, ATTACHMENTS].flatMap((name) => {
    const value = memberOf(raw, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...config, ...Object.fromEntries(told) };
}

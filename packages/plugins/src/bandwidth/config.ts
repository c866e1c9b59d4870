/** The configuration of the bandwidth plugin: its schema, and the limits that it comes to. */
import { ConfigError, uint64 } from '@heddle/cni';
import * as v from 'valibot';

const limits = {
  ingressRate: v.pipe(v.optional(uint64()), v.description('bits per second towards the container')),
  ingressBurst: v.pipe(
    v.optional(uint64()),
    v.description('bits towards the container that may come at once'),
  ),
  egressRate: v.pipe(v.optional(uint64()), v.description('bits per second from the container')),
  egressBurst: v.pipe(v.optional(uint64()), v.description('bits from the container that may come at once')),
};

/** The members that the bandwidth plugin reads. */
export const bandwidthConfig = v.object({
  ...limits,
  runtimeConfig: v.optional(
    v.object({
      bandwidth: v.pipe(
        v.optional(v.object(limits)),
        v.description('the limits of the runtime, which count when the configuration has none'),
      ),
    }),
  ),
});

/** A configuration whose members have the right types; what they say is for the functions here to judge. */
export type BandwidthConfig = v.InferOutput<typeof bandwidthConfig>;

/** A limit of one direction. */
export interface Limit {
  /** Bits per second; at least 8. */
  readonly rate: bigint;
  /** Bits. */
  readonly burst: bigint;
}

/** The limits of an attachment, as its container sees the directions. */
export interface Limits {
  readonly ingress?: Limit;
  readonly egress?: Limit;
}

/** The largest burst, in bits: the kernel counts up to 2³²-2 bytes. */
export const BURST_MAX = 34_359_738_359n;

/**
 * The limits. Those of the runtime count when the configuration has none of its own, not even a zero.
 *
 * @throws {ConfigError} for a rate without a burst, a burst without a rate, and what the kernel cannot hold
 * @example limitsOf({ ingressRate: 8_000_000n, ingressBurst: 800_000n }) // { ingress: { rate: 8000000n, burst: 800000n } }
 */
export function limitsOf(config: BandwidthConfig): Limits {
  const own = MEMBERS.some((member) => config[member] !== undefined);
  const source = own ? config : (config.runtimeConfig?.bandwidth ?? {});
  const pointer = own ? '' : '/runtimeConfig/bandwidth';
  const ingress = limitOf(source.ingressRate, source.ingressBurst, `${pointer}/ingress`);
  const egress = limitOf(source.egressRate, source.egressBurst, `${pointer}/egress`);
  return { ...(ingress && { ingress }), ...(egress && { egress }) };
}

const MEMBERS = ['ingressRate', 'ingressBurst', 'egressRate', 'egressBurst'] as const;

function limitOf(rate = 0n, burst = 0n, pointer: string): Limit | undefined {
  if (rate === 0n && burst === 0n) return undefined;
  if (burst === 0n) {
    throw new ConfigError('if rate is set, burst must also be set', { pointer: `${pointer}Burst` });
  }
  if (rate === 0n) {
    throw new ConfigError('if burst is set, rate must also be set', { pointer: `${pointer}Rate` });
  }
  if (burst > BURST_MAX) {
    throw new ConfigError(`burst cannot be more than 4GB: at most ${BURST_MAX} bits, got ${burst}`, {
      pointer: `${pointer}Burst`,
      received: String(burst),
    });
  }
  if (rate < 8n) {
    throw new ConfigError(`a rate is at least 8 bits per second, got ${rate}`, {
      pointer: `${pointer}Rate`,
      received: String(rate),
    });
  }
  return { rate, burst };
}

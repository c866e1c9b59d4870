/** Limits that cannot be set, or are not what was meant. */
import { type AuditRule, partRule } from '../audit-rule.ts';
import { member, type PluginPart } from '../model/network.ts';

/** The largest burst in bits: the kernel counts up to 2³²-2 bytes. */
const BURST_MAX = 34_359_738_359;
const MTU_BITS = 1500 * 8;
const DIRECTIONS = ['ingress', 'egress'] as const;

const halfLimit = partRule({
  id: 'bandwidth/half-a-limit',
  title: 'A rate without a burst, or a burst without a rate',
  severity: 'error',
  explains: 'The bandwidth plugin wants both for a direction, or neither, and refuses one alone.',
  *check(part) {
    for (const { direction, rate, burst } of limitsOf(part)) {
      if (rate > 0 === burst > 0) continue;
      const [there, lacking] = rate > 0 ? ['Rate', 'Burst'] : ['Burst', 'Rate'];
      yield {
        place: part.document.place([...part.path, keyOf(part, `${direction}${there}`)]),
        what: `${direction}${there} is set without ${direction}${lacking}`,
        consequence: `Every attachment fails: "if ${there?.toLowerCase()} is set, ${lacking?.toLowerCase()} must also be set".`,
        remedy: `Add "${direction}${lacking}", in bits${lacking === 'Rate' ? ' per second' : '; a tenth of the rate is a usual value'}.`,
      };
    }
  },
});

const burstTooLarge = partRule({
  id: 'bandwidth/burst-too-large',
  title: 'A burst that the kernel cannot hold',
  severity: 'error',
  explains: `A burst is counted in bits here, and the kernel takes at most 2³²-2 bytes: ${BURST_MAX} bits. 4 GiB exactly is one too many.`,
  *check(part) {
    for (const { direction, burst } of limitsOf(part)) {
      if (burst <= BURST_MAX) continue;
      yield {
        place: part.document.place([...part.path, keyOf(part, `${direction}Burst`)]),
        what: `${direction}Burst is more than ${BURST_MAX} bits`,
        consequence: 'Every attachment fails: "burst cannot be more than 4GB".',
        remedy: `Write at most ${BURST_MAX}; a tenth of the rate is a usual value.`,
      };
    }
  },
});

const rateUnits = partRule({
  id: 'bandwidth/units',
  title: 'A rate that looks like another unit',
  severity: 'warning',
  explains:
    'Rates are bits per second and bursts are bits. A rate below 100 kbit/s was often meant as kilobits, megabits or bytes. A rate below one byte per second cannot be set at all.',
  *check(part) {
    for (const { direction, rate } of limitsOf(part)) {
      if (rate <= 0 || rate >= 100_000) continue;
      yield {
        ...(rate < 8 && { severity: 'error' as const }),
        place: part.document.place([...part.path, keyOf(part, `${direction}Rate`)]),
        what: `${direction}Rate is ${rate} bits per second`,
        consequence: rate < 8 ? 'The kernel refuses it.' : 'The container is all but cut off.',
        remedy: 'Write bits per second: 10 Mbit/s is 10000000.',
      };
    }
  },
});

const burstSize = partRule({
  id: 'bandwidth/burst-size',
  title: 'A burst that defeats the limit',
  severity: 'warning',
  explains:
    'A burst larger than what the rate lets through in a second makes the limit look absent in the beginning; one smaller than a packet of 1500 bytes lets no full packet pass.',
  *check(part) {
    for (const { direction, rate, burst } of limitsOf(part)) {
      if (rate <= 0 || burst <= 0 || burst > BURST_MAX) continue;
      const seconds = burst / rate;
      if (seconds <= 1 && burst >= MTU_BITS) continue;
      yield {
        place: part.document.place([...part.path, keyOf(part, `${direction}Burst`)]),
        what:
          seconds > 1
            ? `${direction}Burst holds ${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} seconds of ${direction}Rate`
            : `${direction}Burst is smaller than a packet of 1500 bytes`,
        consequence: seconds > 1 ? 'That much passes without a limit.' : 'Full packets are dropped.',
        remedy: `Write between ${MTU_BITS} and ${Math.max(Math.floor(rate), MTU_BITS)} bits.`,
      };
    }
  },
});

/** Rules on bandwidth, the likeliest first. */
export const BANDWIDTH_RULES: readonly AuditRule[] = [halfLimit, burstTooLarge, rateUnits, burstSize];

function limitsOf(part: PluginPart) {
  if (part.type !== 'bandwidth') return [];
  return DIRECTIONS.map((direction) => ({
    ...{ direction, rate: bitsOf(part, `${direction}Rate`), burst: bitsOf(part, `${direction}Burst`) },
  }));
}

function bitsOf({ raw }: PluginPart, name: string): number {
  const value = member(raw, name)?.[1];
  return typeof value === 'number' ? value : 0;
}

function keyOf({ raw }: PluginPart, name: string): string {
  return member(raw, name)?.[0] ?? name;
}

/** A report with every part that one can have, for tests of what is made of it. */
import type { BenchReport, Measurement } from '../report.ts';
import { ratioOfMedians, seeded, summarize } from '../statistics.ts';
import { DEFAULT_WORKLOAD } from '../workload.ts';

/** See the file's comment. */
export function exampleReport(): BenchReport {
  return {
    environment: {
      at: '2026-01-02T03:04:05.000Z',
      system: 'Example Linux 1',
      kernel: '6.18.0',
      architecture: 'x64',
      processor: 'Example <processor> & co',
      processors: 2,
      governor: 'performance',
      memory: 8e9,
      load: { before: 0.25, after: 1.5 },
      node: '24.0.0',
      heddle: '0.1.0',
      commit: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    },
    workload: { ...DEFAULT_WORKLOAD, rounds: 4 },
    networks: [
      {
        network: 'podnet',
        chain: ['bridge', 'portmap'],
        probes: ['10.1.0.1', 'fd00::1'],
        notes: ["no contender's first packet reached 192.0.2.1: it is not asked for"],
        contenders: [
          { name: 'baseline', directory: '/usr/lib/cni', hasAgent: false, versions: { bridge: 'v1' } },
          { name: 'candidate', directory: '/opt/cni/bin', hasAgent: true, versions: { bridge: 'v2' } },
        ],
        measurements: [
          measured('ADD', 'baseline', [100, 120, 90, 110]),
          measured('ADD', 'candidate', [5, 6, 4.5, 30], [100, 120, 90, 110]),
          measured('DEL', 'baseline', [250, 240, 260, 230]),
          { ...measured('DEL', 'candidate', []), failures: { 'portmap: exit code 1: <gone>': 4 } },
        ],
      },
    ],
  };
}

function measured(
  verb: Measurement['verb'],
  contender: string,
  latency: readonly number[],
  first?: readonly number[],
): Measurement {
  const perSecond = (values: readonly number[]) => values.map((each) => 1000 / each);
  const throughput = latency.length === 0 ? [0, 0, 0, 0] : perSecond(latency);
  const random = seeded(1);
  return {
    ...{ verb, contender },
    failures: {},
    latency: summarize(latency),
    throughput: summarize(throughput),
    firstPacket: verb === 'ADD' ? summarize([0.2, 0.25]) : undefined,
    plugins: ['bridge', 'portmap'].map((type) => ({ type, ...summarize(latency.map((each) => each / 2)) })),
    comparison:
      first === undefined
        ? undefined
        : {
            latency: ratioOfMedians(latency, first, { random }),
            throughput: ratioOfMedians(throughput, perSecond(first), { random }),
          },
    samples: { latency, throughput },
  };
}

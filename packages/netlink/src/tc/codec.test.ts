import fc from 'fast-check';
import { all, bytes, checkCodec, i32, oneOf, some, u8, u16, u32, u64 } from '../lab/codec-check.ts';
import { classMessage, filterMessage, qdiscMessage } from './codec.ts';

const header = { family: u8, index: i32, handle: u32, parent: u32, info: u32 };
const rate = all({
  cellLog: u8,
  linkLayer: u8,
  overhead: u16,
  cellAlign: u16,
  minimumPacketUnit: u16,
  rate: u32,
});
const stats = some({
  basic: all({ bytes: u64, packets: u32 }),
  queue: all({ length: u32, backlog: u32, drops: u32, requeues: u32, overlimits: u32 }),
});
/** The attributes of something of a kind, with options. */
const kind = <T>(name: string, options: fc.Arbitrary<T>, variant = name) =>
  all({ kind: fc.constant(name), stats, options: all({ [variant]: options }) });

const tbf = some({
  parameters: all({ rate, peakRate: rate, limit: u32, buffer: u32, mtu: u32 }),
  rate64: u64,
  peakRate64: u64,
});
const htb = some({
  global: all({ version: u32, rateToQuantum: u32, defaultClass: u32, debug: u32, directPackets: u32 }),
  directQueueLength: u32,
});
checkCodec(
  'TCA of a qdisc',
  qdiscMessage,
  all({
    ...header,
    attributes: fc.oneof(kind('tbf', tbf), kind('htb', htb), kind('other', bytes(8), 'raw')),
  }),
);

const htbClass = some({
  parameters: all({
    rate,
    ceil: rate,
    buffer: u32,
    ceilBuffer: u32,
    quantum: u32,
    level: u32,
    priority: u32,
  }),
  rate64: u64,
  ceil64: u64,
});
checkCodec('TCA of a class', classMessage, all({ ...header, attributes: kind('htb', htbClass) }));

const general = {
  index: u32,
  capab: u32,
  verdict: oneOf('ok', 'shot', 'stolen', 'unspec'),
  references: i32,
  bindings: i32,
};
const mirred = all({ ...general, how: oneOf('egress-redirect', 'ingress-mirror'), ifindex: u32 });
const action = <T>(name: string, options: fc.Arbitrary<T>, variant = name) =>
  all({ kind: fc.constant(name), options: all({ [variant]: options }) });
const actions = fc.array(
  fc.oneof(
    action('mirred', some({ parameters: mirred })),
    action('gact', some({ parameters: all(general) })),
    action('other', bytes(8), 'raw'),
  ),
  { maxLength: 3 },
);
const key = all({ mask: u32, value: u32, offset: i32, offsetMask: i32 });
const selector = all({ flags: u8, keys: fc.array(key, { maxLength: 4 }) });
checkCodec(
  'TCA of a filter',
  filterMessage,
  all({
    ...header,
    attributes: fc.oneof(
      kind('u32', some({ classId: u32, selector, actions })),
      kind('matchall', some({ classId: u32, actions })),
    ),
  }),
);

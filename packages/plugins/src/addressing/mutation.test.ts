import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CNI_CODE } from '@heddle/cni';
import fc from 'fast-check';
import { hostLocalAt } from '../host-local/index.ts';
import { staticPlugin } from '../static/index.ts';
import { inProcess } from './testing.ts';

let root: string;
before(() => {
  root = mkdtempSync(join(tmpdir(), 'heddle-mutation-'));
});
after(() => rmSync(root, { recursive: true }));

const text = fc.constantFrom(
  '',
  '10.1.2.0/24',
  '10.1.2.9',
  '2001:db8::/64',
  'fe80::1',
  '::/0',
  '0.0.0.0/0',
  '::ffff:10.1.2.3',
  'x',
  '/',
);
const scalar = fc.oneof(
  text,
  fc.string({ maxLength: 4 }),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
);
const value = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 2 }),
  fc.dictionary(fc.string({ maxLength: 4 }), scalar, { maxKeys: 2 }),
);
const sometimes = <T>(good: fc.Arbitrary<T>) =>
  fc.option(fc.oneof({ weight: 4, arbitrary: good }, { weight: 1, arbitrary: value }), { nil: undefined });

const range = fc.record({
  subnet: sometimes(text),
  rangeStart: sometimes(text),
  rangeEnd: sometimes(text),
  gateway: sometimes(text),
});
const ranges = sometimes(fc.array(sometimes(fc.array(sometimes(range), { maxLength: 2 })), { maxLength: 2 }));
const ips = sometimes(fc.array(sometimes(text), { maxLength: 2 }));
const config = fc.record({
  ipam: sometimes(
    fc.record({
      subnet: sometimes(text),
      ranges,
      gateway: sometimes(text),
      routes: sometimes(
        fc.array(sometimes(fc.record({ dst: sometimes(text), gw: sometimes(text) })), { maxLength: 2 }),
      ),
      addresses: sometimes(
        fc.array(sometimes(fc.record({ address: sometimes(text), gateway: sometimes(text) })), {
          maxLength: 2,
        }),
      ),
      dns: sometimes(fc.record({ nameservers: ips, domain: sometimes(text) })),
      statusOnExhaustion: sometimes(fc.boolean()),
    }),
  ),
  runtimeConfig: sometimes(fc.record({ ips, ipRanges: ranges })),
  args: sometimes(fc.record({ cni: sometimes(fc.record({ ips })) })),
  prevResult: sometimes(fc.record({ ips: sometimes(fc.array(fc.record({ address: sometimes(text) }))) })),
  'cni.dev/valid-attachments': sometimes(fc.array(value, { maxLength: 2 })),
});
const request = fc.record({
  command: fc.constantFrom('ADD', 'CHECK', 'DEL', 'GC', 'STATUS'),
  cniVersion: fc.constantFrom('0.2.0', '0.4.0', '1.1.0'),
  args: fc.oneof(
    text.map((ip) => `IP=${ip}`),
    fc.string({ maxLength: 8 }),
    fc.constant(''),
  ),
  config,
});
const codes: ReadonlySet<unknown> = new Set(
  Object.values(CNI_CODE).filter((code) => code !== CNI_CODE.INTERNAL),
);

for (const type of ['host-local', 'static']) {
  test(`${type}: a strange configuration gives a result or an error with a code, never a defect`, async () => {
    const plugin = inProcess(
      type === 'static' ? staticPlugin : hostLocalAt({ dataDir: root, cacheDir: root }),
    );
    await fc.assert(
      fc.asyncProperty(request, async ({ cniVersion, ...rest }) => {
        const answer = await plugin({ ...rest, config: { cniVersion, name: 'n1', ...rest.config } });
        if (answer.exitCode === 0) return;
        const { code, msg } = answer.json as { code: unknown; msg: unknown };
        assert.ok(codes.has(code), answer.stdout + answer.stderr);
        assert.ok(typeof msg === 'string' && msg !== '');
      }),
      { numRuns: 500 },
    );
  });
}

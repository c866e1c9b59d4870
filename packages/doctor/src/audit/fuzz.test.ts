/** Whatever a file holds, an audit ends with findings and never with an exception; and a repair is found once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { inOrder } from '../report/report.ts';
import { renderText } from '../report/text.ts';
import { RULES } from '../rules.ts';
import { planFixes } from './fix/plan.ts';
import { KNOWN_PLUGINS } from './known/known-plugins.ts';
import { findingsIn, hostWith, installedAs, memoryFiles } from './testing/scene.ts';

const MEMBERS: readonly string[] = [
  ...[
    'name',
    'type',
    'cniVersion',
    'cniVersions',
    'plugins',
    'ipam',
    'capabilities',
    'delegates',
    'delegate',
  ],
  ...[
    'mtu',
    'subnet',
    'ranges',
    'rangeStart',
    'rangeEnd',
    'gateway',
    'routes',
    'dst',
    'gw',
    'addresses',
    'address',
  ],
  ...[
    'isGateway',
    'ipMasq',
    'master',
    'vlan',
    'vlanTrunk',
    'sysctl',
    'backend',
    'conditionsV4',
    'ingressRate',
  ],
  ...['ingressBurst', 'runtimeConfig', 'prevResult', 'netns', 'disableCheck', 'gateways', 'logFile'],
];

const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1500,
    1.5,
    1e300,
    '',
    '1.0.0',
    '1.0',
    'v1',
    '10.0.0.0/8',
  ),
  fc.constantFrom<unknown>(
    '10.1.2.3/33',
    '2001:db8::/64',
    '::1',
    'portMappings',
    '..',
    'net.ipv4.x',
    'stdout',
  ),
  fc.constantFrom<unknown>(...KNOWN_PLUGINS.keys()),
  fc.string({ maxLength: 8 }),
);

const { value: anything } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: 'medium', withCrossShrink: true },
    { arbitrary: leaf, weight: 3 },
    { arbitrary: fc.dictionary(fc.constantFrom(...MEMBERS), tie('value'), { maxKeys: 7 }), weight: 4 },
    { arbitrary: fc.array(tie('value'), { maxLength: 3 }), weight: 2 },
  ),
}));

const plugin = fc
  .tuple(
    fc.constantFrom(...KNOWN_PLUGINS.keys()),
    fc.dictionary(fc.constantFrom(...MEMBERS), anything, { maxKeys: 8 }),
  )
  .map(([type, members]) => ({ ...members, type }));

const content = fc.oneof(
  anything,
  plugin,
  fc
    .array(plugin, { minLength: 1, maxLength: 4 })
    .map((plugins) => ({ cniVersion: '1.0.0', name: 'x', plugins })),
  fc.json().map((text) => `${text.slice(0, Math.floor(text.length * 0.8))}`),
  fc.uint8Array({ maxLength: 40 }),
);

const files = fc.dictionary(
  fc.constantFrom('10-a.conf', '20-b.conflist', '30-c.json', 'x/50-y.conf', '40-d.CONF', 'README'),
  content,
  { minKeys: 1, maxKeys: 5 },
);

test('of anything an audit makes findings that are whole, and text of them', () => {
  const options = { maxPods: 110, against: 'containerd' as const };
  const world = {
    options,
    host: hostWith(),
    installed: installedAs({ bridge: { path: '/b', obstacles: [], versions: [] } }),
  };
  fc.assert(
    fc.property(files, (all) => {
      const findings = findingsIn({ files: all, ...world });
      for (const { id, what, place } of findings) {
        assert.ok(RULES.has(id));
        assert.doesNotMatch(what, /\bundefined\b|\[object Object\]/);
        assert.ok(place === undefined || (place.line ?? 1) >= 1);
      }
      renderText({ findings: inOrder(findings, RULES), silenced: [], checked: 'files' }, { width: 80 });
    }),
    { numRuns: 1500 },
  );
});

test('what a repair has mended is not mended again', () => {
  fc.assert(
    fc.property(files, (all) => {
      let now: Record<string, unknown> = { ...all };
      for (let round = 0; round < 4; round++) {
        for (const { path, after, renameTo = path } of planFixes(
          findingsIn({ files: now }),
          memoryFiles(now),
        )) {
          const { [path.replace('/etc/cni/net.d/', '')]: _, ...others } = now;
          now = { ...others, [renameTo.replace('/etc/cni/net.d/', '')]: after };
        }
      }
      assert.deepEqual(planFixes(findingsIn({ files: now }), memoryFiles(now)), []);
    }),
    { numRuns: 500 },
  );
});

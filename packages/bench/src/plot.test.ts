import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { plotSvg } from './plot.ts';
import { element } from './svg.ts';
import { exampleReport } from './testing/example-report.ts';

const GOLDEN = new URL('../vectors/example.svg', import.meta.url);

describe('a drawing', () => {
  test('is what it was when somebody looked at it', () => {
    assert.equal(plotSvg(exampleReport()), readFileSync(GOLDEN, 'utf8'));
  });

  test('is well-formed, whatever names and texts are in it', () => {
    const report = exampleReport();
    const [network] = report.networks;
    assert.ok(network);
    const hostile = plotSvg({
      ...report,
      networks: [{ ...network, network: '"><script>&\u0000', chain: ['<', "'"] }],
    });
    for (const svg of [plotSvg(report), hostile]) assertWellFormed(svg);
    assert.ok(!hostile.includes('<script'));
  });

  test('of nothing is a drawing still', () => {
    assertWellFormed(plotSvg({ ...exampleReport(), networks: [] }));
  });

  test('has a dot for each attachment, and no lane for who has none', () => {
    const svg = plotSvg(exampleReport());
    assert.equal(svg.split('<circle').length - 1, 12);
    assert.equal(svg.split('>candidate<').length - 1, 1);
    assert.equal(svg.split('>baseline<').length - 1, 2);
    assert.ok(!/NaN|Infinity|undefined/.test(svg));
  });
});

test('attributes and contents are escaped', () => {
  assert.equal(element('a', { b: '<"&>' }, "<'&>"), '<a b="&lt;&quot;&amp;&gt;">&lt;\'&amp;&gt;</a>');
});

/** Elements are closed in their order, attributes are quoted, and nothing is left that would start either. */
function assertWellFormed(xml: string): void {
  const open: string[] = [];
  const rest = xml.replace(
    /<(\/?)([a-z]+)((?: [A-Za-z0-9-]+="[^"<]*")*)(\/?)>/g,
    (_, closing: string, name: string, _attributes: string, single: string) => {
      if (closing !== '') assert.equal(open.pop(), name);
      else if (single === '') open.push(name);
      return '';
    },
  );
  assert.deepEqual(open, []);
  assert.ok(!/[<>]/.test(rest), rest.slice(0, 200));
  assert.ok(!/&(?!(amp|lt|gt|quot);)/.test(xml));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
  assert.ok(!/[\u0000-\u0008\u000b-\u001f]/.test(xml));
}

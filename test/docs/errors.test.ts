import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

test('docs/errors.md explains every code that the sources use', () => {
  const documented = [...readFileSync('docs/errors.md', 'utf8').matchAll(/^\| `([A-Z_]+…?)` \|/gm)].map(
    ([, code]) => code ?? '',
  );
  const sources = globSync('packages/*/src/**/*.ts').filter(
    (path) => !/\.test\.ts$|\/testing|\/lab\//.test(path) || path.includes('netlink/src/testing/'),
  );
  const used = new Set(
    sources.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/\bcode(?:: string)?(?: =|:) '([A-Z]+(?:_[A-Z]+)*)'/g)].map(
        ([, code]) => code ?? '',
      ),
    ),
  );
  const explained = (code: string) =>
    documented.some((each) => (each.endsWith('…') ? code.startsWith(each.slice(0, -1)) : each === code));
  assert.deepEqual(
    [...used].filter((code) => !explained(code)),
    [],
  );
});

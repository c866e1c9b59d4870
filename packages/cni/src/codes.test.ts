import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CNI_CODE, codeForHeddleError, codeName } from './codes.ts';

const here = new URL('.', import.meta.url);
const page = readFileSync(new URL('../../../docs/errors.md', here), 'utf8');

test('docs/errors.md lists exactly the numbers of the table', () => {
  const rows = [...page.matchAll(/^\| (\d+) \| ([A-Z_]+) \|/gm)].map(([, number, name]) => [
    name,
    Number(number),
  ]);
  assert.deepEqual(Object.fromEntries(rows), { ...CNI_CODE });
});

test('no two names share a number, and our own begin at 100', () => {
  const numbers = Object.values(CNI_CODE);
  assert.equal(new Set(numbers).size, numbers.length);
  for (const number of numbers) assert.equal(codeName(number) !== undefined, true);
  assert.equal(codeName(12345), undefined);
});

test('docs/errors.md explains every identifier that this package gives an error', () => {
  const sources = readdirSync(here).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const used = sources.flatMap((name) => {
    const text = readFileSync(new URL(name, here), 'utf8');
    return [...text.matchAll(/\bcode: '([A-Z_]+)'/g)].map(([, code]) => code);
  });
  assert.ok(used.length > 5);
  for (const code of used) assert.ok(page.includes(`\`${code}\``), `docs/errors.md lacks ${code}`);
});

test('failures of other packages have a number', () => {
  const expected = {
    ADDR_INVALID: 7,
    POOL_EXHAUSTED: 11,
    IPAM_DUPLICATE: 100,
    IPAM_RANGE_INVALID: 7,
    IPAM_POOL_INVALID: 7,
    IPAM_BUSY: 11,
    STORE_CONFLICT: 11,
    STORE_UNAVAILABLE: 11,
    STORE_UNAUTHORISED: 5,
    NETLINK: 110,
    SYSCALL_FAILED: 120,
    WIRE_MALFORMED: 130,
  };
  for (const [code, number] of Object.entries(expected)) assert.equal(codeForHeddleError(code), number, code);
  assert.equal(codeForHeddleError('SOMETHING_ELSE'), undefined);
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  BASE_CHAINS,
  LINK_GROUPS,
  PACKET_MARKS,
  ROUTE_METRIC,
  ROUTE_PROTOCOL,
  ROUTING_TABLES,
  RUNTIME_PATHS,
  TABLES,
  UDP_PORTS,
  VNIS,
} from './numbers.ts';

const page = readFileSync(new URL('../../../docs/numbers.md', import.meta.url), 'utf8');

/** The rows of a section's table without the last column, which is for people. */
function section(title: string): readonly (readonly string[])[] {
  const body = page.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? '';
  const rows = body.split('\n').filter((line) => line.startsWith('| '));
  return rows
    .filter((line) => !/^[|\s:-]+$/.test(line))
    .slice(1)
    .map((line) =>
      line
        .split('|')
        .slice(1, -2)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}

function numbered(constants: Readonly<Record<string, number | string>>): readonly (readonly string[])[] {
  return Object.entries(constants).map(([name, value]) => [name, String(value)]);
}

test('the page has the tables', () => {
  const tables = Object.entries(TABLES).map(([name, { family, table }]) => [name, `${family} ${table}`]);
  assert.deepEqual(section('Tables'), tables);
});

test('the page has the base chains', () => {
  const chains = Object.entries(BASE_CHAINS).map(([name, { type, hook, priority }]) => [
    ...[name, type, hook, String(priority)],
  ]);
  assert.deepEqual(section('Base chains'), chains);
});

test('the page has the packet marks, single bits that do not overlap', () => {
  const hex = Object.entries(PACKET_MARKS).map(([name, mark]) => [name, `0x${mark.toString(16)}`]);
  assert.deepEqual(section('Packet marks'), hex);
  for (const mark of Object.values(PACKET_MARKS)) assert.equal(mark & (mark - 1), 0);
});

test('the page has the other numbers', () => {
  assert.deepEqual(section('Route protocol'), [['protocol', String(ROUTE_PROTOCOL)]]);
  assert.deepEqual(section('Route metric'), [['metric', String(ROUTE_METRIC)]]);
  assert.deepEqual(section('Routing tables'), numbered(ROUTING_TABLES));
  assert.deepEqual(section('Link groups'), numbered(LINK_GROUPS));
  assert.deepEqual(section('VNIs'), numbered(VNIS));
  assert.deepEqual(section('UDP ports'), numbered(UDP_PORTS));
  assert.deepEqual(section('Runtime paths'), numbered(RUNTIME_PATHS));
});

/** Changes to JSON documents as careless people, other programs and attackers make them. */
import type { Choices } from '../support/choices.ts';

/** The text of a document after one to three changes to its value, and sometimes one to its bytes. */
export function mutate(document: unknown, choices: Choices): string {
  let value = structuredClone(document);
  for (let count = 1 + choices.below(3); count > 0; count--) value = change(value, choices);
  const text = JSON.stringify(value) ?? '';
  return choices.chance(1) ? damage(text, choices) : text;
}

function change(value: unknown, choices: Choices): unknown {
  if (typeof value !== 'object' || value === null || choices.chance(1)) return oddity(choices);
  if (Array.isArray(value)) {
    if (value.length === 0 || choices.chance(2)) return [...value, oddity(choices)];
    const at = choices.below(value.length);
    return value.with(at, change(value[at], choices));
  }
  const entries = Object.entries(value);
  const [key, member] = entries[choices.below(entries.length)] ?? ['x', undefined];
  switch (choices.below(5)) {
    case 0:
      return Object.fromEntries(entries.filter(([name]) => name !== key));
    case 1:
      return { ...value, [key]: oddity(choices) };
    case 2:
      return Object.fromEntries(
        entries.map(([name, each]) => [name === key ? flipCase(name, choices) : name, each]),
      );
    default:
      return { ...value, [key]: change(member, choices) };
  }
}

function flipCase(name: string, choices: Choices): string {
  const at = choices.below(name.length + 1);
  return `${name.slice(0, at)}${name.slice(at).toUpperCase()}`;
}

function damage(text: string, choices: Choices): string {
  const at = choices.below(text.length + 1);
  const junk = choices.one(['', ',', '"', '}', '\u0000', '\\u12', '/*', '﻿', 'null', '1e999']);
  return choices.chance(5)
    ? text.slice(0, at)
    : `${text.slice(0, at)}${junk}${text.slice(at + choices.below(2))}`;
}

function oddity(choices: Choices): unknown {
  return choices.one<unknown>([
    null,
    true,
    false,
    0,
    -1,
    1.5,
    65536,
    2 ** 31,
    2 ** 53,
    -(2 ** 63),
    1e300,
    '',
    ' ',
    '0',
    'true',
    '..',
    '../../x',
    'a/b',
    'x'.repeat(300),
    'é',
    '\u0000',
    '\n',
    '$(reboot)',
    "'; drop",
    '10.0.0.0/8',
    '10.0.0.1',
    '10.0.0.0/33',
    '::/0',
    'fe80::1',
    '::ffff:1.2.3.4/96',
    '0.0.0.0/0',
    '255.255.255.255',
    '01.2.3.4',
    '00:00:5e:00:53:01',
    '1.1.0',
    '0.1.0',
    '9.9.9',
    'bridge',
    'host-local',
    'eth0',
    'lo',
    [],
    [[]],
    [null],
    [{}],
    {},
    { type: 'static' },
    { '': 1 },
    { __proto__: 1, constructor: 2 },
    { a: { b: { c: [] } } },
  ]);
}

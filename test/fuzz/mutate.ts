/** Changes to JSON documents as careless people, other programs and attackers make them. */
import type { Choices } from '../support/choices.ts';

/** Where values come from besides the list of oddities. */
export interface Sources {
  /** A text that the code knows, perhaps. */
  readonly word: () => string;
  /** Another document. */
  readonly part: () => unknown;
}

/** The text of a document after one to three changes to its value, and sometimes one to its bytes. */
export function mutate(document: unknown, choices: Choices, sources?: Sources): string {
  let value = structuredClone(document);
  for (let count = 1 + choices.below(3); count > 0; count--) value = change(value, choices, sources);
  const text = JSON.stringify(value) ?? '';
  return choices.chance(1) ? damage(text, choices) : text;
}

function change(value: unknown, choices: Choices, sources?: Sources): unknown {
  if (typeof value !== 'object' || value === null || choices.chance(1)) return fresh(choices, sources);
  if (Array.isArray(value)) {
    if (value.length === 0 || choices.chance(2)) return [...value, fresh(choices, sources)];
    const at = choices.below(value.length);
    return value.with(at, change(value[at], choices, sources));
  }
  const entries = Object.entries(value);
  const [key, member] = entries[choices.below(entries.length)] ?? ['x', undefined];
  if (sources !== undefined && choices.chance(2)) return { ...value, ...addition(choices, sources) };
  switch (choices.below(5)) {
    case 0:
      return Object.fromEntries(entries.filter(([name]) => name !== key));
    case 1:
      return { ...value, [key]: fresh(choices, sources) };
    case 2:
      return Object.fromEntries(
        entries.map(([name, each]) => [name === key ? flipCase(name, choices) : name, each]),
      );
    default:
      return { ...value, [key]: change(member, choices, sources) };
  }
}

function fresh(choices: Choices, sources?: Sources): unknown {
  if (sources === undefined || choices.chance(4)) return oddity(choices);
  return choices.chance(7) ? sources.word() : anywhereIn(sources.part(), choices);
}

/** Members of another document, or a new one. */
function addition(choices: Choices, { word, part }: Sources): object {
  const other = anywhereIn(part(), choices);
  if (typeof other === 'object' && other !== null && !Array.isArray(other) && choices.chance(7)) return other;
  return { [word()]: choices.chance(5) ? other : oddity(choices) };
}

function anywhereIn(value: unknown, choices: Choices): unknown {
  let place = value;
  while (typeof place === 'object' && place !== null && choices.chance(6)) {
    const members: readonly unknown[] = Object.values(place);
    if (members.length === 0) break;
    place = members[choices.below(members.length)];
  }
  return place;
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

/** The schemas as an independent validator reads them, over the examples that lie beside them. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, test } from 'node:test';
import { decodeConfig, type PluginConfig, parseNetworkList } from '@heddle/cni';
import { Addr } from '@heddle/netaddr';
import { PLUGINS } from '@heddle/plugins';
import { Ajv, type ErrorObject } from 'ajv';
import { codeBlocks } from '../../test/support/markdown.ts';
import { generatedFiles, SCHEMAS } from '../generate.ts';
import { pluginSchema } from './json-schemas.ts';

interface Example {
  readonly name: string;
  readonly text: string;
  readonly list: {
    readonly wrong?: string;
    readonly plugins?: readonly { type?: string; ipam?: { type?: string } }[];
  };
}

const isAddress = (family: 4 | 6) => (text: string) => Addr.tryParse(text)?.family === family;
const ajv = new Ajv({ allErrors: true, formats: { ipv4: isAddress(4), ipv6: isAddress(6) } });
for (const [path, text] of generatedFiles()) {
  if (path.startsWith(SCHEMAS)) ajv.addSchema(JSON.parse(text) as object, basename(path));
}

function examples(kind: 'valid' | 'invalid'): readonly Example[] {
  return globSync(`${SCHEMAS}/examples/${kind}/*`)
    .sort()
    .map((path) => {
      const text = readFileSync(path, 'utf8');
      return { name: basename(path), text, list: JSON.parse(text) as Example['list'] };
    });
}

function problems(list: unknown): readonly ErrorObject[] {
  const validate = ajv.getSchema('conflist.json');
  assert.ok(validate);
  return validate(list) === true ? [] : (validate.errors ?? []);
}

/** The types of plugins that an example is about, those for addresses included. */
function typesIn({ list }: Example): readonly string[] {
  return (list.plugins ?? []).flatMap(({ type, ipam }) => [type ?? '', ipam?.type ?? '']);
}

/** Reads a plugin's object as the plugin does, and as the one for its addresses does. */
function decode({ type, ipamType, raw }: PluginConfig): void {
  for (const each of [type, ipamType ?? '']) {
    const plugin = PLUGINS.get(each);
    if (plugin !== undefined) decodeConfig(plugin.config, raw);
  }
}

describe('the schema of lists', () => {
  for (const { name, text, list } of examples('valid')) {
    test(`accepts ${name}, and so do the plugins`, () => {
      assert.deepEqual(problems(list), []);
      for (const plugin of parseNetworkList(Buffer.from(text)).plugins) decode(plugin);
    });
  }

  for (const { name, list } of examples('invalid')) {
    test(`refuses ${name}, and says where`, () => {
      const places = problems(list).map(({ instancePath }) => instancePath);
      assert.ok(places.includes(list.wrong ?? 'nowhere'), `${list.wrong}: ${places.join(' ')}`);
    });
  }

  test('has an example of each plugin, and of a mistake in each', () => {
    for (const kind of ['valid', 'invalid'] as const) {
      const types = new Set(examples(kind).flatMap(typesIn));
      assert.deepEqual(
        [...PLUGINS.keys()].filter((type) => !types.has(type)),
        [],
        kind,
      );
    }
  });

  test('accepts the lists in the documentation', () => {
    const blocks = globSync('docs/*.md').flatMap((path) => [...codeBlocks(readFileSync(path, 'utf8'))]);
    const lists = blocks.filter(([name]) => name.endsWith('.conflist'));
    assert.ok(lists.length > 0);
    for (const [name, text] of lists) assert.deepEqual(problems(JSON.parse(text)), [], name);
  });
});

for (const plugin of PLUGINS.values()) {
  test(`null leaves out whatever ${plugin.type} does not need, for the schema as for the plugin`, () => {
    const { properties = {}, required = [] } = pluginSchema(plugin);
    const example = examples('valid').find((each) => typesIn(each).includes(plugin.type));
    const plugins = (example?.list.plugins ?? []) as readonly Readonly<Record<string, unknown>>[];
    const inList = plugins.find(({ type }) => type === plugin.type);
    const config = inList ?? plugins.find(({ ipam }) => (ipam as { type?: string })?.type === plugin.type);
    const unset = Object.keys(properties).filter((name) => !required.includes(name) && name !== 'type');
    assert.ok(config !== undefined && (unset.length > 0 || plugin.kind === 'ipam'));
    const nulls = { ...config, ...Object.fromEntries(unset.map((name) => [name, null])) };
    assert.deepEqual(problems({ cniVersion: '1.0.0', name: 'n', plugins: [nulls] }), []);
    decodeConfig(plugin.config, nulls);
  });
}

test('the schema of a plugin is one for the configuration of that plugin alone', () => {
  const validate = ajv.getSchema('bridge.json');
  assert.ok(validate);
  const config = {
    cniVersion: '1.0.0',
    name: 'n',
    type: 'bridge',
    ipam: { type: 'host-local', subnet: '10.1.0.0/16' },
  };
  assert.equal(validate(config), true);
  assert.equal(validate({ ...config, type: 'ptp' }), false);
  assert.equal(validate({ ...config, ipam: { type: 'host-local', subnet: '10.1' } }), false);
});

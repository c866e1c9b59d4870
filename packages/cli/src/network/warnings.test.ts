/** What `add` and `status` warn of before anything runs. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { CliLab } from '../testing/cli-lab.ts';

const CONFLIST = `{
  "cniVersion": "1.0.0",
  "name": "t6",
  "plugins": [
    {
      "type": "bridge",
      "isGatway": true,
      "_comment": "a remark", "Documentation": "another",
      "ipam": { "type": "host-local", "subnett": "10.1.0.0/16", "subnet": "10.1.0.0/16" },
      "args": { "cni": { "anything": 1 } }
    },
    { "type": "portmap", "capabilites": { "portMappings": true } },
    { "type": "noop", "whatever": 1 }
  ]
}
`;

function labWith(conflist: unknown): CliLab {
  const lab = new CliLab();
  lab.write('net.d/10-t6.conflist', conflist);
  for (const type of ['bridge', 'portmap', 'noop']) lab.stub(type, `echo '{"cniVersion":"1.0.0"}'`);
  return lab;
}

describe('a network', () => {
  test('is warned of where it has members that no plugin of ours knows', async () => {
    using lab = labWith(CONFLIST);
    const path = `${lab.root}/net.d/10-t6.conflist`;
    const { exitCode, stderr } = await lab.run(['add', 't6', 'blue']);
    assert.equal(exitCode, 0);
    assert.deepEqual(stderr.trim().split('\n'), [
      `heddle: warning: ${path}:7:19: bridge does not know "isGatway"; did you mean "isGateway"?`,
      `heddle: warning: ${path}:9:50: host-local does not know "subnett"; did you mean "subnet"?`,
      `heddle: warning: ${path}:12:41: portmap does not know "capabilites"; did you mean "capabilities"?`,
    ]);
  });

  test('is warned of by status too, and where it is one plugin or comes from the folder beside it', async () => {
    using lab = labWith({ cniVersion: '1.1.0', name: 't6', plugins: [{ type: 'noop' }] });
    const path = lab.write(
      'net.d/20-one.conf',
      '{"cniVersion":"1.1.0","name":"one","type":"bridge",\n"mtuu":1}',
    );
    const { stderr } = await lab.run(['status', 'one']);
    assert.equal(stderr, `heddle: warning: ${path}:2:8: bridge does not know "mtuu"; did you mean "mtu"?\n`);
    mkdirSync(`${lab.root}/net.d/t6`);
    lab.write('net.d/t6/50-more.conf', { cniVersion: '1.1.0', name: 't6', type: 'portmap', snaat: true });
    const beside = await lab.run(['status', 't6']);
    assert.equal(beside.stderr, 'heddle: warning: portmap does not know "snaat"; did you mean "snat"?\n');
  });

  const plugins = [{ type: 'bridge' }, { type: 'portmap' }];
  const enabled = [{ type: 'portmap', capabilities: { portMappings: true } }];
  const lost: readonly (readonly [what: string, plugins: readonly object[], args: object, why: string])[] = [
    ['not declared', plugins, { portMappings: [] }, 'portMappings (is "capabilities" missing in portmap?)'],
    ['misspelled', enabled, { portMapping: [] }, 'portMapping; did you mean "portMappings"?'],
    ['of no plugin that is there', enabled, { bandwidth: {} }, 'bandwidth'],
    ['of no plugin at all', enabled, { fortune: {} }, 'fortune'],
  ];
  for (const [what, chain, args, why] of lost) {
    test(`loses no capability argument in silence: ${what}`, async () => {
      using lab = labWith({ cniVersion: '1.0.0', name: 't6', plugins: chain });
      const { exitCode, stderr } = await lab.run(['add', 't6', 'blue'], { CAP_ARGS: JSON.stringify(args) });
      assert.equal(exitCode, 0);
      assert.equal(stderr, `heddle: warning: nothing on t6 takes ${why}\n`);
    });
  }

  test('is not warned of where all is well', async () => {
    using lab = labWith({ cniVersion: '1.0.0', name: 't6', plugins: enabled });
    const args = { CAP_ARGS: JSON.stringify({ portMappings: [] }) };
    assert.equal((await lab.run(['add', 't6', 'blue'], args)).stderr, '');
  });
});

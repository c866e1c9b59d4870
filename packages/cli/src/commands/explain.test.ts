import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CliLab } from '../testing/cli-lab.ts';

const VERSION = `echo '{"cniVersion":"1.0.0","supportedVersions":["0.4.0","1.0.0"]}'`;

function lab(): CliLab {
  const made = new CliLab();
  for (const type of ['bridge', 'portmap', 'host-local']) made.stub(type, VERSION);
  made.write('net.d/10-podnet.conflist', {
    ...{ cniVersion: '1.0.0', name: 'podnet' },
    plugins: [
      {
        ...{ type: 'bridge', bridge: 'cni0', capabilities: { ips: true } },
        ipam: { type: 'host-local', subnet: '10.45.0.0/24' },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  });
  return made;
}

/** One of this machine's, with another's number in e_machine (elf(5)). */
function foreignProgram(): Uint8Array {
  const program = readFileSync('/bin/true');
  program.writeUInt16LE(process.arch === 'arm64' ? 62 : 183, 18);
  return program;
}

const PORTS = { portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }] };

interface Explained {
  readonly candidates: readonly { readonly file: string; readonly fate: string; readonly reason: string }[];
  readonly network: {
    readonly name: string;
    readonly env: Readonly<Record<string, string>>;
    readonly withheld: readonly string[];
    readonly unclaimed: readonly string[];
    readonly plugins: readonly {
      readonly stdin: string;
      readonly prevResultFrom: string | null;
      readonly program: {
        readonly kind: string;
        readonly sha256: string;
        readonly versions: readonly string[];
      };
      readonly capabilities: readonly object[];
    }[];
  } | null;
  readonly findings: readonly { readonly id: string }[];
}

async function explained(made: CliLab, ...args: readonly string[]): Promise<Explained> {
  return (await made.json(['explain', ...args])) as Explained;
}

describe('heddle explain', () => {
  test('tells a directory that is not there from one with nothing in it', async () => {
    using made = new CliLab();
    const said = async (directory: string) =>
      (await made.run(['explain'], { NETCONFPATH: directory })).stdout;
    assert.match(await said(made.places.configDir), /no configurations/);
    assert.match(await said(`${made.root}/nowhere`), /there is no such directory/);
  });

  test('a program for another processor is no program', async () => {
    using made = lab();
    rmSync(join(made.places.pluginDir, 'portmap'));
    writeFileSync(join(made.places.pluginDir, 'portmap'), foreignProgram(), { mode: 0o755 });
    const { exitCode, stdout } = await made.run(['explain']);
    assert.equal(exitCode, 1);
    assert.match(stdout, /ADD would fail: portmap cannot be run/);
    assert.match(stdout, /it cannot be started: .*(arm64|x64)/);
    const audit = await made.run(['audit']);
    assert.equal(audit.exitCode, 5);
    assert.match(audit.stdout, /portmap cannot be started: .*(arm64|x64).* \[chain\/plugin-not-installed\]/);
  });

  test('looks for plugins where the runtime is told to', async () => {
    using made = lab();
    made.write('config.toml', 'bin_dir = "/of/containerd"\n');
    made.write('containers.conf', 'cni_plugin_dirs = ["/of/podman"]\n');
    const pathFor = async (against: string) =>
      (await explained(made, 'podnet', '--against', against)).network?.env['CNI_PATH'];
    assert.equal(await pathFor('podman'), '/of/podman');
    assert.equal(await pathFor('kubelet'), '/of/containerd');
    assert.equal(await pathFor('crio'), made.places.pluginDir);
  });

  test('shows the file, the environment, and each plugin with its program and input', async () => {
    using made = lab();
    const { exitCode, stdout, stderr } = await made.run(['explain', 'podnet', '--netns', '/run/netns/blue']);
    const text = stdout
      .replaceAll(made.root, '/lab')
      .replaceAll(/sha256 [0-9a-f]{12}/g, 'sha256 0123456789ab');
    assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: '' });
    assert.equal(
      text,
      `runtime   heddle takes the network that is named, lists before single plugins; without a name the first by
          file name
network   podnet, from /lab/net.d/10-podnet.conflist
version   1.0.0, as the file says
plugins   bridge → portmap
cache     /lab/cache/results

Files in /lab/net.d
  FILE                 NETWORK   FATE     WHY
  10-podnet.conflist   podnet    chosen   it has the network "podnet"

Environment of every plugin
  CNI_COMMAND=ADD
  CNI_CONTAINERID=cnitool-df26705e2e4ffd095eb1
  CNI_NETNS=/run/netns/blue
  CNI_ARGS=
  CNI_IFNAME=eth0
  CNI_PATH=/lab/bin
  and those of the runtime's own environment

1. bridge
  program        /lab/bin/bridge (script, 1 KiB, sha256 0123456789ab)
  speaks         0.4.0, 1.0.0
  addresses      host-local: /lab/bin/host-local (script, 1 KiB, sha256 0123456789ab)
  capabilities   ips: none given
  stdin
    {
      "bridge": "cni0",
      "capabilities": {"ips": true},
      "cniVersion": "1.0.0",
      "ipam": {"subnet": "10.45.0.0/24", "type": "host-local"},
      "name": "podnet",
      "type": "bridge"
    }

2. portmap
  program        /lab/bin/portmap (script, 1 KiB, sha256 0123456789ab)
  speaks         0.4.0, 1.0.0
  capabilities   portMappings: none given
  stdin
    {
      "capabilities": {"portMappings": true},
      "cniVersion": "1.0.0",
      "name": "podnet",
      "type": "portmap",
      "prevResult": the result of bridge
    }
`,
    );
  });

  test('gives a plugin the bytes that it explains', async () => {
    using made = lab();
    made.stub(
      'bridge',
      `[ "$CNI_COMMAND" = ADD ] && printf %s "$stdin" > '${made.root}/seen' && env | grep ^CNI_ | sort > '${made.root}/env'
if [ "$CNI_COMMAND" = ADD ]; then echo '{"cniVersion":"1.0.0"}'; else ${VERSION}; fi`,
    );
    made.stub(
      'portmap',
      `if [ "$CNI_COMMAND" = ADD ]; then echo '{"cniVersion":"1.0.0"}'; else ${VERSION}; fi`,
    );
    const { network } = await explained(
      made,
      'podnet',
      '--netns',
      '/run/netns/blue',
      '-i',
      'net1',
      '--args',
      'A=1',
    );
    const env = { CNI_ARGS: 'A=1', CNI_IFNAME: 'net1' };
    assert.equal((await made.run(['add', 'podnet', '/run/netns/blue'], env)).exitCode, 0);
    assert.equal(network?.plugins[0]?.stdin, made.read('seen'));
    const lines = Object.entries(network.env).map(([name, value]) => `${name}=${value}`);
    assert.deepEqual(lines.toSorted(), made.read('env').trim().split('\n'));
  });

  test('says of each runtime which file it takes', async () => {
    using made = lab();
    made.write('net.d/05-broken.conf', '{"type":');
    made.write('net.d/20-other.conf', { cniVersion: '0.4.0', name: 'other', type: 'bridge' });
    const fates = async (against: string) =>
      (await explained(made, '--against', against)).candidates.map(({ fate }) => fate);
    assert.deepEqual(await fates('heddle'), ['passed over', 'chosen', 'by name']);
    assert.deepEqual(await fates('containerd'), ['ends the search', 'not reached', 'not reached']);
    assert.deepEqual(await fates('kubelet'), await fates('containerd'));
    assert.deepEqual(await fates('cri-o'), ['passed over', 'chosen', 'not reached']);
    assert.deepEqual(await fates('podman'), ['passed over', 'by name', 'passed over']);
    made.write('net.d/30-podman.conflist', {
      cniVersion: '0.4.0',
      name: 'podman',
      plugins: [{ type: 'bridge' }],
    });
    assert.deepEqual(await fates('podman'), ['passed over', 'by name', 'passed over', 'chosen']);
    const { network } = await explained(made, '--against', 'podman');
    assert.match(network?.env['CNI_PATH'] ?? '', /^\/usr\/local\/libexec\/cni:.*:\/opt\/cni\/bin$/);
    const broken = await explained(made, '--against', 'containerd');
    assert.equal(broken.network, null);
    assert.ok(broken.findings.some(({ id }) => id.startsWith('syntax/')));
    assert.equal((await made.run(['explain', '--against', 'containerd'])).exitCode, 1);
  });

  test('leaves out what a runtime never passes, and spells the rest as it does', async () => {
    using made = lab();
    const cap = JSON.stringify({ ...PORTS, ips: ['10.45.0.9'], mac: '02:00:00:00:00:01' });
    const { network } = await explained(made, '--against', 'containerd', '--cap', cap);
    const { runtimeConfig } = JSON.parse(network?.plugins[1]?.stdin ?? '') as { runtimeConfig: object };
    assert.deepEqual(runtimeConfig, {
      portMappings: [{ ContainerPort: 80, HostPort: 8080, Protocol: 'tcp' }],
    });
    assert.deepEqual(network?.withheld, ['ips', 'mac']);
    assert.deepEqual(
      network?.plugins.flatMap(({ capabilities }) => capabilities),
      [
        { name: 'ips', state: 'never passed' },
        { name: 'portMappings', state: 'passed' },
      ],
    );
    assert.match(network?.env['CNI_ARGS'] ?? '', /K8S_POD_NAME=<pod>/);
    const own = await explained(made, 'podnet', '--cap', cap);
    assert.deepEqual(
      { withheld: own.network?.withheld, unclaimed: own.network?.unclaimed },
      { withheld: [], unclaimed: ['mac'] },
    );
  });

  test('tells that ADD would fail: a plugin is missing, or does not speak the version', async () => {
    using made = lab();
    made.write('net.d/10-podnet.conflist', {
      ...{ cniVersion: '1.1.0', name: 'podnet' },
      plugins: [{ type: 'bridge' }, { type: 'portmapp' }],
    });
    const { exitCode, stdout } = await made.run(['explain']);
    assert.equal(exitCode, 1);
    assert.match(stdout, /verdict {3}ADD would fail: bridge does not speak 1\.1\.0; portmapp cannot be run/);
    assert.match(stdout, /speaks {4}0\.4\.0, 1\.0\.0; not 1\.1\.0: ADD would fail/);
    assert.match(stdout, /failed to find plugin "portmapp" in path .*; did you mean "portmap"\?/);
    assert.match((await made.run(['explain', 'nonet'])).stdout, /no file has the network "nonet"/);
  });
});

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertUnchanged, leftovers } from '../support/leftovers.ts';
import { Node } from '../support/node.ts';
import { installPlugins } from '../support/plugin-directory.ts';
import { missing } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { type Cri, connectCri, podConfig } from './cri.ts';

const skip = missing('containerd', 'runc', 'busybox', 'curl', 'cc');

/** containerd in a node of its own, on our plugins, spoken to as the kubelet does. */
class Containerd {
  readonly node = new Node();
  readonly #directory = this.node.directory;
  readonly #socket = join(this.#directory, 'containerd.sock');
  readonly #process: ChildProcess;

  constructor() {
    const directory = this.#directory;
    installPlugins(join(directory, 'bin'));
    mkdirSync(join(directory, 'net.d'));
    mkdirSync(join(directory, 'logs'));
    writeFileSync(join(directory, 'net.d/10-crinet.conflist'), JSON.stringify(this.#network()));
    writeFileSync(join(directory, 'containerd.toml'), configOf(directory));
    this.#process = this.node.inside(() =>
      spawn('containerd', ['-c', join(directory, 'containerd.toml')], { stdio: 'ignore' }),
    );
  }

  async connect(): Promise<Cri> {
    await until('containerd', () => this.#ctr('version'));
    this.#import('pause', this.#pauseRoot(), ['/pause']);
    this.#import('bb', this.#busyboxRoot(), ['/bin/sh']);
    const cri = connectCri(this.#socket);
    await until('the network to be ready', async () => {
      const { status } = await cri.Status({});
      return status.conditions.find(({ type }) => type === 'NetworkReady')?.status === true
        ? true
        : undefined;
    });
    return cri;
  }

  state(): readonly string[] {
    return leftovers(this.node, [
      join(this.#directory, 'ipam'),
      { directory: '/var/lib/cni/results', startsWith: 'crinet-' },
      { directory: '/var/lib/cni/results', startsWith: 'cni-loopback-' },
    ]);
  }

  async close(): Promise<void> {
    const gone = new Promise((end) => this.#process.once('exit', end));
    this.#process.kill('SIGTERM');
    await gone;
    this.node[Symbol.dispose]();
  }

  #network(): object {
    return {
      cniVersion: '1.0.0',
      name: 'crinet',
      plugins: [
        {
          type: 'bridge',
          bridge: 'hdcri0',
          isGateway: true,
          ipMasq: true,
          hairpinMode: true,
          ipam: {
            type: 'host-local',
            dataDir: join(this.#directory, 'ipam'),
            ranges: [[{ subnet: '10.91.0.0/24' }], [{ subnet: 'fd00:91::/64' }]],
            routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
          },
        },
        { type: 'portmap', capabilities: { portMappings: true } },
        { type: 'firewall', backend: 'iptables' },
        { type: 'bandwidth', capabilities: { bandwidth: true } },
        { type: 'tuning', sysctl: { 'net.ipv4.conf.IFNAME.arp_filter': '1' } },
      ],
    };
  }

  #ctr(...args: readonly string[]): string {
    return execFileSync('ctr', ['-a', this.#socket, '-n', 'k8s.io', ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
  }

  #import(name: string, root: string, command: readonly string[]): void {
    const archive = join(this.#directory, `${name}.tar`);
    writeImage(archive, `localhost/${name}:1`, root, command);
    this.#ctr('images', 'import', archive);
  }

  #pauseRoot(): string {
    const root = join(this.#directory, 'pause');
    mkdirSync(root);
    const source = join(this.#directory, 'pause.c');
    writeFileSync(
      source,
      '#include <signal.h>\n#include <unistd.h>\nstatic void stop(int s) { (void)s; _exit(0); }\nint main(void) { signal(SIGINT, stop); signal(SIGTERM, stop); for (;;) pause(); }\n',
    );
    execFileSync('cc', ['-Os', '-static', '-s', '-o', join(root, 'pause'), source]);
    return root;
  }

  #busyboxRoot(): string {
    const root = join(this.#directory, 'bb');
    for (const name of ['bin', 'etc', 'www']) mkdirSync(join(root, name), { recursive: true });
    cpSync('/bin/busybox', join(root, 'bin/busybox'));
    for (const name of ['sh', 'httpd', 'ip']) symlinkSync('busybox', join(root, 'bin', name));
    writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\n');
    writeFileSync(join(root, 'www/index.html'), 'hello\n');
    return root;
  }
}

function configOf(directory: string): string {
  return `version = 2
root = "${directory}/root"
state = "${directory}/state"
[grpc]
  address = "${directory}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "localhost/pause:1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${directory}/bin"
    conf_dir = "${directory}/net.d"
    max_conf_num = 1
[plugins."io.containerd.internal.v1.opt"]
  path = "${directory}/opt"
`;
}

/** Writes an OCI archive of one layer. */
function writeImage(archive: string, name: string, root: string, command: readonly string[]): void {
  const directory = `${archive}.d`;
  mkdirSync(join(directory, 'blobs/sha256'), { recursive: true });
  const put = (bytes: Buffer) => {
    const hex = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(directory, 'blobs/sha256', hex), bytes);
    return { digest: `sha256:${hex}`, size: bytes.length };
  };
  execFileSync('tar', [
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '-C',
    root,
    '-cf',
    `${archive}.layer`,
    '.',
  ]);
  const layer = put(readFileSync(`${archive}.layer`));
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const rootfs = { type: 'layers', diff_ids: [layer.digest] };
  const config = put(
    Buffer.from(JSON.stringify({ architecture, os: 'linux', config: { Cmd: command }, rootfs })),
  );
  const type = 'application/vnd.oci.image';
  const manifest = put(
    Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: `${type}.manifest.v1+json`,
        config: { mediaType: `${type}.config.v1+json`, ...config },
        layers: [{ mediaType: `${type}.layer.v1.tar`, ...layer }],
      }),
    ),
  );
  const annotations = { 'io.containerd.image.name': name };
  const entry = { mediaType: `${type}.manifest.v1+json`, ...manifest, annotations };
  writeFileSync(join(directory, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  writeFileSync(join(directory, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [entry] }));
  execFileSync('tar', ['-C', directory, '-cf', archive, '.']);
}

let containerd: Containerd;
let cri: Cri;
before(async () => {
  if (skip !== false) return;
  containerd = new Containerd();
  cri = await containerd.connect();
});
after(async () => {
  if (skip !== false) return;
  cri.close();
  await containerd.close();
});

const PORTS = [{ protocol: 'TCP', container_port: 80, host_port: 8080, host_ip: '' }];

test('a pod runs on our plugins, its status has the addresses, its port answers, and nothing is left', {
  skip,
}, async () => {
  const logs = join(containerd.node.directory, 'logs');
  // The kubelet hands these annotations on to bandwidth.
  const annotations = { 'kubernetes.io/ingress-bandwidth': '10M', 'kubernetes.io/egress-bandwidth': '10M' };
  const config = podConfig('p1', { log_directory: logs, port_mappings: PORTS, annotations });
  const first = await cri.RunPodSandbox({ config });
  await cri.StopPodSandbox(first);
  await cri.RemovePodSandbox(first);
  const before = containerd.state();

  const sandbox = await cri.RunPodSandbox({ config });
  const { network } = (await cri.PodSandboxStatus(sandbox)).status;
  const cached = JSON.parse(
    readFileSync(`/var/lib/cni/results/crinet-${sandbox.pod_sandbox_id}-eth0`, 'utf8'),
  );
  const addresses = cached.result.ips.map(({ address }: { address: string }) => address.split('/')[0]);
  assert.deepEqual([network.ip, ...network.additional_ips.map(({ ip }) => ip)], addresses);
  assert.equal(addresses.length, 2);

  const container = await cri.CreateContainer({
    ...sandbox,
    sandbox_config: config,
    config: {
      metadata: { name: 'web' },
      image: { image: 'localhost/bb:1' },
      command: ['/bin/httpd', '-f', '-p', '80', '-h', '/www'],
      log_path: 'web.log',
    },
  });
  await cri.StartContainer(container);
  const fetch = () => containerd.node.run('curl', '-sf', '--max-time', '3', 'http://127.0.0.1:8080/').trim();
  assert.equal(await until('the published port', fetch), 'hello');

  assert.match(containerd.node.run('tc', 'qdisc'), /qdisc tbf .* rate 10Mbit/);

  await cri.StopPodSandbox(sandbox);
  await cri.StopPodSandbox(sandbox);
  await cri.RemovePodSandbox(sandbox);
  assert.throws(fetch);
  assertUnchanged(before, containerd.state());
});

test('eight pods at once get eight addresses', { skip }, async () => {
  const names = Array.from({ length: 8 }, (_, index) => `many${index}`);
  const sandboxes = await Promise.all(names.map((name) => cri.RunPodSandbox({ config: podConfig(name) })));
  const statuses = await Promise.all(sandboxes.map((sandbox) => cri.PodSandboxStatus(sandbox)));
  assert.equal(new Set(statuses.map(({ status }) => status.network.ip)).size, 8);
  for (const sandbox of sandboxes) {
    await cri.StopPodSandbox(sandbox);
    await cri.RemovePodSandbox(sandbox);
  }
});

/**
 * A machine as its operator sees it: a shell, the `heddle` command, and the usual directories. What the command prints is
 * all that is known of it. It is the node of {@link DoctorLab}, with mounts and processes of its own.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildStandalone } from '../../scripts/build-standalone.ts';
import { DoctorLab } from './doctor-lab.ts';
import { findingsIn, type Told } from './printed.ts';

/** What a command has printed. */
export interface Printed {
  readonly status: number | null;
  readonly text: string;
  readonly findings: readonly Told[];
}

/**
 * Hides what this machine has of CNI; the networks' directory is the lab's. Namespaces that other tests have mounted are
 * let go: copies of those mounts would keep the tests' pods here after they are gone, and the doctor would see that an
 * address is in use which a pod of this node has left.
 */
const PREPARE = `set -e
findmnt --noheadings --list --types nsfs --output TARGET | while read -r namespace; do
  umount "$namespace" 2> /dev/null || true
done
mount -t tmpfs -o mode=755 run /run
for directory in etc var/lib opt; do
  mkdir -p /run/.layer/$directory/upper /run/.layer/$directory/work
  mount -t overlay -o lowerdir=/$directory,upperdir=/run/.layer/$directory/upper,workdir=/run/.layer/$directory/work none /$directory
done
rm -rf /etc/cni /opt/cni /var/lib/cni /etc/heddle /etc/containerd /etc/containers /etc/crio
mkdir -p /etc/cni/net.d /opt/cni/bin /var/lib/cni
mount --bind "$NETWORKS" /etc/cni/net.d
mount -t sysfs none /sys
echo ready
exec sleep infinity`;

/** See the file's comment. */
export class OperatorNode extends DoctorLab {
  readonly #holder: ChildProcess;

  private constructor() {
    super();
    mkdirSync(this.configDir, { recursive: true });
    const args = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-c', PREPARE];
    const env = { ...process.env, NETWORKS: this.configDir };
    this.#holder = this.inside(() => spawn('unshare', args, { env, stdio: ['ignore', 'pipe', 'inherit'] }));
  }

  /** A machine on which Heddle's plugins have been installed, and the network `podnet` is in force. */
  static async start(more: Parameters<DoctorLab['podnet']>[0] = {}): Promise<OperatorNode> {
    buildStandalone();
    const node = new OperatorNode();
    await once(node.#holder.stdout ?? node.#holder, 'data');
    node.podnet({ ...more, ipam: { dataDir: undefined, ...more.ipam } });
    node.sh('heddle install --no-network');
    return node;
  }

  /** Types a command at the machine; one that fails fails the test. */
  sh(command: string): string {
    const { status, text } = this.try(command);
    assert.equal(status, 0, `${command}: ${text}`);
    return text;
  }

  /** Types a command that was printed; one of `heddle` may tell of further findings. */
  type(command: string): void {
    const { status, text } = this.try(command);
    const fine = /^heddle (doctor|audit) /.test(command) ? [0, 4, 5] : [0];
    assert.ok(fine.includes(status ?? -1), `${command}: ${text}`);
  }

  /** The same where a failure is no surprise. */
  try(command: string): { readonly status: number | null; readonly text: string } {
    const { pid } = this.#holder;
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    const enter = [`--target=${first}`, '--net', '--mount', '--pid', '--', 'sh', '-ec', command];
    const env = { ...process.env, PATH: `${resolve('bin')}:${process.env['PATH']}` };
    const { status, stdout, stderr } = spawnSync('nsenter', enter, { encoding: 'utf8', env });
    return { status, text: `${stdout}${stderr}` };
  }

  /** Starts a container: a namespace of that name, attached to `podnet`. */
  startPod(name: string, env = ''): void {
    this.sh(`ip netns add ${name}; ip netns exec ${name} sysctl -qw net.ipv6.conf.default.accept_dad=0`);
    this.sh(`${env} heddle add podnet ${name} --container-id ${name}`);
  }

  /** Starts it anew. */
  restartPod(name: string, env = ''): void {
    this.sh(`heddle del podnet ${name} --container-id ${name}; ip netns del ${name}`);
    this.startPod(name, env);
  }

  /** Runs a command that prints findings, and reads what it says. */
  look(command: string): Printed {
    const { status, text } = this.try(command);
    return { status, text, findings: findingsIn(text) };
  }

  /** Puts a program where a plugin is, with the old one out of the way. */
  replacePlugin(type: string, content: string | Uint8Array): void {
    const path = join(this.directory, type);
    writeFileSync(path, content, { mode: 0o755 });
    this.sh(`rm -f /opt/cni/bin/${type}; cp ${path} /opt/cni/bin/${type}`);
  }

  override [Symbol.dispose](): void {
    this.#holder.kill('SIGKILL');
    super[Symbol.dispose]();
  }
}

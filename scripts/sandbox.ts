/**
 * Runs the calling script again in network and mount namespaces of its own, where it may do as it likes:
 * what it writes below /etc, /var/lib, /opt and /run, its links, rules and mounts are gone when it ends. Then
 * proves that the machine is as it was.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { difference, hostSnapshot } from './host-snapshot.ts';

const MARK = 'HEDDLE_SANDBOX';

/** True inside the sandbox. */
export function inSandbox(): boolean {
  return process.env[MARK] === '1';
}

/**
 * Runs this script in the sandbox and ends the process with its status; returns at once when already inside.
 * A difference between the machine before and after makes the status 1.
 */
export function enterSandbox(): void {
  if (inSandbox()) {
    prepare();
    return;
  }
  if (process.getuid?.() !== 0) {
    process.stderr.write('this must run as root: it makes network namespaces\n');
    process.exit(1);
  }
  const before = hostSnapshot();
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const { status, signal } = spawnSync(
    'unshare',
    ['--net', '--mount', '--propagation', 'private', '--', ...command],
    { stdio: 'inherit', env: { ...process.env, [MARK]: '1' } },
  );
  const left = difference(before, hostSnapshot());
  if (left.length > 0) process.stderr.write(`the machine is not as it was:\n${left.join('\n')}\n`);
  else process.stdout.write('leak check: the machine is as it was before\n');
  process.exit(left.length > 0 ? 1 : (status ?? (signal === null ? 1 : 128)));
}

function prepare(): void {
  run('mount', '-t', 'tmpfs', '-o', 'mode=755', 'heddle-run', '/run');
  for (const directory of ['etc', 'var/lib', 'opt']) {
    const layer = `/run/.sandbox/${directory}`;
    run('mkdir', '-p', `${layer}/upper`, `${layer}/work`);
    run(
      'mount',
      '-t',
      'overlay',
      '-o',
      `lowerdir=/${directory},upperdir=${layer}/upper,workdir=${layer}/work`,
      'heddle',
      `/${directory}`,
    );
  }
  // What the machine has of CNI is hidden: a sandbox is a node on which nothing was ever installed.
  for (const directory of ['/etc/cni', '/var/lib/cni', '/opt/cni']) {
    run('mkdir', '-p', directory);
    run('mount', '-t', 'tmpfs', '-o', 'mode=755', 'heddle', directory);
  }
  run('ip', 'link', 'set', 'lo', 'up');
}

function run(program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

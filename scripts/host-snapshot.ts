/**
 * What tests and demos could leave behind on the machine, as text lines. Taken before and after, the two
 * must be equal.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** One line for each link, rule, file and setting that a leak would add or change. */
export function hostSnapshot(): readonly string[] {
  return [
    ...output('ip', ['-o', 'link', 'show']).map(
      (line) => `link ${line.replace(/ (state|qdisc|qlen) \S+/g, '')}`,
    ),
    ...output('ip', ['-o', 'address', 'show']).map(
      (line) => `address ${line.replace(/ +(valid|preferred)_lft \S+/g, '')}`,
    ),
    ...output('ip', ['route', 'show', 'table', 'all']).map((line) => `route ${line}`),
    ...output('ip', ['rule', 'show']).map((line) => `rule ${line}`),
    ...output('nft', ['list', 'ruleset']).map((line) => `nft ${line}`),
    ...DIRECTORIES.flatMap(files),
    ...SETTINGS.filter(existsSync).map((path) => `${path} = ${readFileSync(path, 'utf8').trim()}`),
    ...readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.includes(' nsfs ')),
  ];
}

/** The lines that only one of two snapshots has, with `-` for lost and `+` for left behind. */
export function difference(before: readonly string[], after: readonly string[]): readonly string[] {
  return [
    ...before.filter((line) => !after.includes(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
  ];
}

/** On a node that is in use these come and go with the pods of others; nothing in a sandbox can reach them. */
const TRANSIENT = /^\/run\/(heddle|netns)\/|^\/var\/lib\/cni\/(results|networks)\//;

const DIRECTORIES = ['/run/netns', '/run/heddle', '/run/cni', '/var/lib/cni', '/etc/cni', '/opt/cni'];
const SETTINGS = ['/proc/sys/net/ipv4/ip_forward', '/proc/sys/net/ipv6/conf/all/forwarding'];

function files(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory, { recursive: true }).map((name) => `${directory}/${name}`);
  return [directory, ...names.filter((name) => !TRANSIENT.test(name))];
}

function output(program: string, args: readonly string[]): readonly string[] {
  try {
    const text = execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return text.split('\n').filter((line) => line.trim() !== '');
  } catch {
    // A machine without the program has nothing of its kind.
    return [];
  }
}

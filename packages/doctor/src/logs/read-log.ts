/** Reading a log: of the kubelet, containerd, CRI-O, Podman, the kernel, or a journal with all of them in it. */
import type { Finding } from '../finding.ts';
import { found, type Rules } from '../rule.ts';
import { type KnownMessage, MESSAGES } from './messages.ts';

/** Where lines come from. */
export interface LogSource {
  /** For the places of findings: a path, or `-`. */
  readonly file: string;
  readonly rules: Rules;
}

/**
 * The failures of container networks that a log tells of, each once, with how often and for whom.
 *
 * @param lines without their newlines
 */
export function readLog(lines: Iterable<string>, { file, rules }: LogSource): readonly Finding[] {
  const cases = new Map<string, Case>();
  let number = 0;
  for (const line of lines) {
    number++;
    const text = plain(line);
    const match = recognise(text);
    if (match === undefined) continue;
    const what = filledIn(match.message.what, match.groups);
    const key = `${match.message.id} ${what}`;
    const known = cases.get(key) ?? {
      ...match,
      what,
      line: number,
      excerpt: around(text, match.at),
      times: 0,
      subjects: new Set(),
    };
    const subject = subjectOf(text);
    if (subject !== undefined) known.subjects.add(subject);
    cases.set(key, { ...known, times: known.times + 1, last: number });
  }
  return [...cases.values()].flatMap((each) => findingOf(each, { file, rules }));
}

interface Recognised {
  readonly message: KnownMessage;
  readonly groups: Readonly<Record<string, string | undefined>>;
  /** Where in the line it begins. */
  readonly at: number;
}

interface Case extends Recognised {
  readonly what: string;
  readonly line: number;
  readonly last?: number;
  readonly excerpt: string;
  readonly times: number;
  readonly subjects: Set<string>;
}

function recognise(text: string): Recognised | undefined {
  const concerned = NETWORKING.test(text) && !ELSEWHERE.test(text);
  for (const message of MESSAGES) {
    if (message.isGeneric === true && !concerned) continue;
    const match = message.pattern.exec(text);
    if (match !== null) return { message, groups: match.groups ?? {}, at: match.index };
  }
  return undefined;
}

/** What lines about the network of a container have in them. */
const NETWORKING =
  /\bcni\b|cni\d|netns|netplugin|sandbox|network|plugin type=|veth|portmap|hostport|rootlessport|host-local|netavark|multus|flannel|calico|cilium|weave|antrea|kube-?router|ovn/i;

/** Other work of the same programs, whose failures are worded alike. */
const ELSEWHERE = /\bpull(?:ing)?\b[^:]*\bimage\b|ErrImagePull|ImagePullBackOff|OCI runtime|MountVolume/;

function findingOf(each: Case, { file, rules }: LogSource): readonly Finding[] {
  const rule = rules.get(each.message.id);
  if (rule === undefined) return [];
  const pods = [...each.subjects];
  const often = each.times === 1 ? [] : [`${each.times} times, last in line ${each.last}`];
  const whose =
    pods.length < 2
      ? []
      : [`for ${pods.slice(0, 5).join(', ')}${pods.length > 5 ? ` and ${pods.length - 5} more` : ''}`];
  return [
    found(rule, {
      place: { file, line: each.line, excerpt: each.excerpt },
      ...(pods[0] !== undefined && { subject: pods[0] }),
      what: each.what,
      consequence:
        CONSEQUENCES[rule.id] ?? 'The container does not get its network; the runtime tries again and again.',
      remedy: filledIn(each.message.remedy, each.groups),
      evidence: [...often, ...whose],
    }),
  ];
}

/** Where it is not that a container does not get its network. */
const CONSEQUENCES: Readonly<Record<string, string>> = {
  'log/teardown': 'The container stays in termination, and its address stays held.',
  'log/namespace': 'Mostly none: there is nothing left to attach or detach.',
  'log/cache-damaged': 'The container cannot be deleted, and its address stays held.',
  'network/none': 'The node is not ready: no container is attached.',
  'kernel/conntrack-full': 'New connections fail now and then.',
  'address/duplicate': 'Packets for one go to the other.',
};

/** The part of a line that matters, with a little of what is before it. */
function around(text: string, at: number): string {
  const start = Math.max(0, at - BEFORE);
  const part = text.slice(start, start + EXCERPT);
  return `${start > 0 ? '…' : ''}${part}${start + EXCERPT < text.length ? '…' : ''}`;
}

const BEFORE = 20;
const EXCERPT = 160;

/** Quotes within quotes, as loggers write them, are taken off. */
function plain(line: string): string {
  return shortened(line)
    .replaceAll(/(?<!\\)\\+(["n])/g, (_, sign: string) => (sign === 'n' ? ' ' : sign))
    .trim();
}

/** Long lines are looked at by their ends: patterns are matched in a time that grows with the square of the length. */
function shortened(line: string): string {
  return line.length <= HEAD + TAIL ? line : `${line.slice(0, HEAD)} … ${line.slice(-TAIL)}`;
}

const HEAD = 6144;
const TAIL = 2048;

function filledIn(text: string, groups: Recognised['groups']): string {
  return text
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => (groups[name] ?? '').replaceAll('"', '').trim())
    .replaceAll(/\s*\(\)/g, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/[:\s]+$/, '');
}

/** The pod or sandbox that a line is about, in the ways of the kubelet, containerd, CRI-O and Docker. */
function subjectOf(text: string): string | undefined {
  for (const pattern of SUBJECTS) {
    const { namespace, name } = pattern.exec(text)?.groups ?? {};
    if (name !== undefined) return `pod ${namespace === undefined ? '' : `${namespace}/`}${name}`;
  }
  const sandbox = /for sandbox "?(?<id>[0-9a-f]{12})[0-9a-f]*/.exec(text)?.groups?.['id'];
  return sandbox === undefined ? undefined : `sandbox ${sandbox}…`;
}

const SUBJECTS = [
  /pod="(?<namespace>[\w.-]+)\/(?<name>[\w.-]+)"/,
  /&PodSandboxMetadata\{Name:(?<name>[\w.-]+),Uid:[\w-]*,Namespace:(?<namespace>[\w.-]+)/,
  /k8s_(?:[\w-]{1,63}_)?(?<name>[a-z0-9.-]{1,253})_(?<namespace>[a-z0-9-]{1,63})_[0-9a-f-]{20,}/,
  /error adding pod (?<namespace>[\w.-]+?)_(?<name>[\w.-]+) to CNI network/,
  /set up pod "(?<name>[\w.-]+)_(?<namespace>[\w.-]+)"/,
];

/** Whether the directories and files that plugins and runtimes work in can be used. */
import { dirname } from 'node:path';
import { isJsonObject, type JsonValue } from '@heddle/cni';
import { commandLine } from '../command-line.ts';
import type { Finding } from '../finding.ts';
import { reservationDirs } from '../inventory/reservations.ts';
import type { NodeView } from '../node/view.ts';
import { found } from '../rule.ts';
import { ago, doctorRule, type NodeCheck } from './check.ts';
import { mountOf } from './program-file.ts';

const unusable = doctorRule({
  id: 'directory/unusable',
  severity: 'error',
  title: 'A directory cannot be used',
  explains:
    "The runtime's cache, host-local's reservations, the plugins' and the configurations' directories: whether they are directories, and may be written or read. A directory that is not there yet is no fault, as long as it can be made.",
});

const credentials = doctorRule({
  id: 'directory/credentials',
  severity: 'error',
  title: "A plugin's kubeconfig cannot be read",
  explains:
    'Configurations of Calico, Multus and others name a kubeconfig with which the plugin asks the API server. It is missing when the installer of that CNI did not finish, or its token has been cleared away.',
});

const exposed = doctorRule({
  id: 'directory/exposed',
  severity: 'warning',
  title: "A plugin's kubeconfig can be read by everybody",
  explains:
    'The kubeconfig of a network plugin holds a token that may change the cluster. It should be readable by root only.',
});

const denied = doctorRule({
  id: 'directory/denied',
  severity: 'error',
  title: 'A security module denied something to a plugin or runtime',
  explains:
    "SELinux and AppArmor refuse what file permissions would allow, and tell it in the kernel's log. Looked for are denials for what concerns CNI: its directories, its plugins, network namespaces. One that is older than an hour is a note, for it may have been mended since.",
});

/** See the file's comment. */
export const directoriesCheck: NodeCheck = {
  rules: [denied, unusable, credentials, exposed],
  look: (view) => [...denials(view), ...directories(view), ...kubeconfigs(view)],
};

function directories(view: NodeView): readonly Finding[] {
  const { places } = view.ports;
  const lists = view.networks.networks.map(({ list }) => list);
  const usesHostLocal = lists.some(({ plugins }) =>
    plugins.some(({ ipamType }) => ipamType === 'host-local'),
  );
  const stores = usesHostLocal ? reservationDirs(places.reservationDir, lists) : [];
  return [
    ...problem(view, { path: places.configDir, role: 'network configurations', wish: 'read' }),
    ...places.pluginPath.flatMap((path) => problem(view, { path, role: 'plugins', wish: 'read' })),
    ...problem(view, { path: places.cacheDir, role: "the runtime's cache", wish: 'write' }),
    ...problem(view, { path: `${places.cacheDir}/results`, role: "the runtime's cache", wish: 'write' }),
    ...stores.flatMap((path) => problem(view, { path, role: "host-local's reservations", wish: 'write' })),
    ...stores.flatMap((path) =>
      lists.flatMap(({ name }) =>
        problem(view, { path: `${path}/${name}`, role: "host-local's reservations", wish: 'write' }),
      ),
    ),
  ];
}

interface Wanted {
  readonly path: string;
  readonly role: string;
  readonly wish: 'read' | 'write';
}

function problem(view: NodeView, { path, role, wish }: Wanted): readonly Finding[] {
  const { files } = view.ports;
  if (wish === 'write' && !isOwn(view, path)) return [];
  const why = whyNot(view, path, wish);
  if (why === undefined) return [];
  const consequence =
    role === 'plugins' || role === 'network configurations'
      ? 'The runtime finds nothing there, and attaches no container.'
      : wish === 'write' && role.includes('cache')
        ? 'Containers cannot be attached, or are not remembered and leave things behind when they end.'
        : 'No address can be given out or taken back.';
  const facts = files.facts(path);
  return [
    found(unusable, {
      subject: path,
      what: `${path} (${role}) cannot be ${wish === 'write' ? 'written to' : 'read'}: ${why.what}`,
      consequence,
      ...{ remedy: why.remedy, commands: why.commands },
      ...(facts !== undefined && {
        evidence: [`mode ${octal(facts.mode)}, owner ${facts.uid}:${facts.gid}`],
      }),
    }),
  ];
}

/** Whether this process is who works there: to others, what is root's is closed as it should be. */
function isOwn(view: NodeView, path: string): boolean {
  const { files, machine } = view.ports;
  const there = files.facts(path) ?? files.facts(nearest(view, path));
  return machine.uid === 0 || there?.uid === machine.uid;
}

function whyNot(view: NodeView, path: string, wish: 'read' | 'write'): Problem | undefined {
  const { files, machine } = view.ports;
  const facts = files.facts(path);
  if (facts === undefined) {
    const above = nearest(view, path);
    const refused =
      files.refusal(above, 'execute') ?? (wish === 'write' ? files.refusal(above, 'write') : undefined);
    if (refused === undefined) return undefined;
    return { what: `${above}: ${wordsFor(refused)}`, ...remedyFor(view, above, refused) };
  }
  if (facts.kind !== 'directory') {
    return {
      what: 'it is no directory',
      remedy: `move ${path} away, and make a directory`,
      commands: [commandLine('mv', path, `${path}.old`), commandLine('install', '-d', '-m', '755', path)],
    };
  }
  const refused = files.refusal(path, wish) ?? files.refusal(path, 'execute');
  if (refused !== undefined) return { what: wordsFor(refused), ...remedyFor(view, path, refused) };
  // Root passes by permissions that stop a runtime without all capabilities.
  if (machine.uid === 0 && wish === 'write' && facts.uid === 0 && (facts.mode & 0o300) !== 0o300) {
    return { what: `its mode is ${octal(facts.mode)}`, ...remedyFor(view, path, 'EACCES') };
  }
  return undefined;
}

/** Permission bits as people write them. */
function octal(mode: number): string {
  return mode.toString(8).padStart(3, '0');
}

function nearest({ ports: { files } }: NodeView, path: string): string {
  let above = dirname(path);
  while (above !== '/' && files.facts(above) === undefined) above = dirname(above);
  return above;
}

function wordsFor(errno: string): string {
  return REFUSALS[errno] ?? errno;
}

const REFUSALS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'the file is immutable, or a security module forbids it',
  EROFS: 'the file system is mounted read-only',
};

function remedyFor(view: NodeView, path: string, errno: string): Omit<Problem, 'what'> {
  if (errno === 'EROFS') {
    const point = mountOf(view.ports.files, path)?.point ?? path;
    return {
      remedy: `mount ${point} read-write, and see that /etc/fstab does not say otherwise`,
      commands: [commandLine('mount', '-o', 'remount,rw', point)],
    };
  }
  if (errno === 'EPERM') {
    return {
      remedy: 'take the mark "immutable" from it, or see the rules of SELinux or AppArmor',
      commands: [commandLine('chattr', '-i', path)],
    };
  }
  return {
    remedy: 'let its owner in, who must be the user of the runtime',
    commands: [commandLine('chmod', 'u+rwx', path)],
  };
}

/** What keeps somebody out, and how to let him in. */
interface Problem {
  readonly what: string;
  readonly remedy: string;
  readonly commands: readonly string[];
}

function credentialsProblem(
  { ports: { files } }: NodeView,
  { path, type }: { readonly path: string; readonly type: string },
): Problem | undefined {
  const facts = files.facts(path);
  const again = `restart the pod that installs ${type} on this node`;
  if (facts === undefined) return { what: 'it is not there', remedy: again, commands: [] };
  if (facts.kind !== 'file')
    return { what: 'it is no file', remedy: `remove ${path}, and ${again}`, commands: [] };
  const refused = files.refusal(path, 'read');
  if (refused !== undefined) return { what: wordsFor(refused), ...readableByOwner(path) };
  // Root passes by permissions, unless it has been left without that capability.
  if ((facts.mode & 0o444) === 0) {
    return {
      what: `its mode is ${octal(facts.mode)}, which lets nobody in but a root with all capabilities`,
      ...readableByOwner(path),
    };
  }
  return files.head(path, 1)?.length === 0 ? { what: 'it is empty', remedy: again, commands: [] } : undefined;
}

function readableByOwner(path: string): Omit<Problem, 'what'> {
  return { remedy: 'let its owner read it, and nobody else', commands: [commandLine('chmod', '600', path)] };
}

function kubeconfigs(view: NodeView): readonly Finding[] {
  const { files, machine } = view.ports;
  if (machine.uid !== 0) return [];
  return view.networks.networks.flatMap(({ list, path: file }) =>
    list.plugins.flatMap(({ type, raw }) =>
      namedKubeconfigs(raw).flatMap((path): readonly Finding[] => {
        const facts = files.facts(path);
        const subject = `network ${list.name}`;
        const problem = credentialsProblem(view, { path, type });
        if (problem !== undefined) {
          return [
            found(credentials, {
              ...{ place: { file }, subject },
              what: `the plugin ${type} cannot read ${path}: ${problem.what}`,
              consequence: `${type} cannot ask the API server, and fails.`,
              ...{ remedy: problem.remedy, commands: problem.commands },
            }),
          ];
        }
        if (facts === undefined || (facts.mode & 0o004) === 0) return [];
        return [
          found(exposed, {
            ...{ place: { file }, subject },
            what: `${path} can be read by every user of the node (mode ${octal(facts.mode)})`,
            consequence: `Whoever gets into the node has the rights of ${type} in the cluster.`,
            ...readableByOwner(path),
          }),
        ];
      }),
    ),
  );
}

/** Calico nests it as `kubernetes.kubeconfig`, Multus and others have it at the top. */
function namedKubeconfigs(value: JsonValue): readonly string[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    if (key.toLowerCase() === 'kubeconfig' && typeof member === 'string' && member.startsWith('/'))
      return [member];
    return key === 'kubernetes' || key === 'delegate' ? namedKubeconfigs(member) : [];
  });
}

/** One that is long past may have been mended since. */
function denials({ ports, networks }: NodeView): readonly Finding[] {
  const types = networks.networks.flatMap(({ list }) => list.plugins.map(({ type }) => type));
  const lines = ports.machine
    .kernelLog()
    .filter(
      ({ text }) => DENIAL.test(text) && (ABOUT_CNI.test(text) || types.includes(programIn(text) ?? '')),
    );
  const last = lines.at(-1);
  if (last === undefined) return [];
  const age = ports.now() - last.at;
  const module = /apparmor/i.test(last.text) ? 'AppArmor' : 'SELinux';
  const program = programIn(last.text) ?? 'a program';
  return [
    found(denied, {
      ...(age > FRESH && { severity: 'note' }),
      subject: module,
      what: `${module} denied something to ${program}, ${ago(age)}`,
      consequence:
        'Plugins or the runtime fail with "permission denied", although file permissions allow it.',
      remedy:
        module === 'AppArmor'
          ? `correct the profile that the line names (\`aa-status\` lists them), or set it to complain`
          : 'restore the labels (`restorecon -Rv /opt/cni /etc/cni /var/lib/cni`), or allow it by a policy',
      evidence: lines.slice(-3).map(({ text }) => text),
    }),
  ];
}

function programIn(line: string): string | undefined {
  return /comm="([^"]*)"/.exec(line)?.[1];
}

/** An hour: whoever is still hindered tries again within this. */
const FRESH = 3_600_000;
const DENIAL = /apparmor="DENIED"|avc:\s+denied/;
const ABOUT_CNI =
  /cni|netns|containerd|crio|podman|kubelet|flannel|calico|cilium|multus|weave|antrea|kube-router|ovn/i;

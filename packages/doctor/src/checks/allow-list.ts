/** Whether all who attach containers can read the list of kernel parameters that tuning may set. */
import { dirname } from 'node:path';
import { commandLine } from '../command-line.ts';
import type { Finding } from '../finding.ts';
import type { NodeView } from '../node/view.ts';
import { found } from '../rule.ts';
import { doctorRule, type NodeCheck } from './check.ts';

const closed = doctorRule({
  id: 'directory/allow-list',
  severity: 'warning',
  title: "tuning's list of allowed kernel parameters cannot be read by everybody",
  explains:
    'tuning reads `/etc/cni/tuning/allowlist.conf` as whoever starts the container. Where a directory on the way to it is closed to others, or the list itself is, rootless containers fail. For the user that runs the doctor this is an error. Looked at where a network in force has tuning set kernel parameters.',
});

/** See the file's comment. */
export const allowListCheck: NodeCheck = {
  rules: [closed],
  look(view) {
    const user = view.networks.networks.find(({ list }) =>
      list.plugins.some(({ type, raw }) => type === 'tuning' && 'sysctl' in raw),
    );
    const hindrance = user && (own(view) ?? others(view));
    if (hindrance === undefined) return [];
    const { list, path: file } = user as NonNullable<typeof user>;
    return [found(closed, { place: { file }, subject: `network ${list.name}`, ...hindrance })];
  },
};

const LIST = '/etc/cni/tuning/allowlist.conf';

type Hindrance = Pick<Finding, 'severity' | 'what' | 'consequence' | 'remedy' | 'commands'>;

/** What keeps this process from reading the list. */
function own({ ports: { files } }: NodeView): Hindrance | undefined {
  const directory = wayTo(LIST).find((path) => files.refusal(path, 'execute') === 'EACCES');
  const path = directory ?? (files.refusal(LIST, 'read') === 'EACCES' ? LIST : undefined);
  if (path === undefined) return undefined;
  return {
    severity: 'error',
    what: `${path} may not be ${path === LIST ? 'read' : 'entered'}, so that tuning cannot read ${LIST}`,
    consequence: 'Every attachment fails with code 5: a list that cannot be read does not count as none.',
    ...opening(path),
  };
}

/** What keeps users without rights of their own from it. */
function others({ ports: { files } }: NodeView): Hindrance | undefined {
  if (files.facts(LIST) === undefined) return undefined;
  const path =
    wayTo(LIST).find((each) => lacks(files.facts(each)?.mode, 0o001)) ??
    (lacks(files.facts(LIST)?.mode, 0o004) ? LIST : undefined);
  if (path === undefined) return undefined;
  return {
    severity: 'warning',
    what: `${path} is closed to others than its owner, and so is ${LIST} to rootless runtimes`,
    consequence: 'Rootless containers are not attached: tuning fails with code 5.',
    ...opening(path),
  };
}

function lacks(mode: number | undefined, bit: number): boolean {
  return mode !== undefined && (mode & bit) === 0;
}

/** The directories on the way to a file, the outermost first. */
function wayTo(path: string): readonly string[] {
  const above = dirname(path);
  return above === '/' ? [] : [...wayTo(above), above];
}

function opening(path: string): Pick<Finding, 'remedy' | 'commands'> {
  const mode = path === LIST ? '644' : '755';
  return { remedy: 'open it to everybody', commands: [commandLine('chmod', mode, path)] };
}

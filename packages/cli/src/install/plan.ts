/**
 * What to do to install Heddle's plugins, or to remove them, as a list: made from what is there, without
 * touching anything. Nothing that is not Heddle's own is ever in it; when something is in the way, nothing is
 * done at all.
 *
 * The order is part of the plan. Runtimes take a network's configuration as the sign that its plugins are
 * there, so it is written last and removed first; the program comes before what leads to it.
 */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Present } from './present.ts';
import { claiming, type InstallRecord, isClaimed, isClaimedLink, RECORD_NAME } from './record.ts';

/** The plugins' program. */
export const PROGRAM = 'heddle-cni';
/** What the programs of older versions loaded from beside themselves. */
const FORMER_ADDON = 'heddle_sys.node';
/** The client that hands calls over to the agent, and to the program where there is none. */
export const CLIENT = 'heddle-shim';

/** One step. `keep` and `skip` are told, but nothing is done: it is there already, or it is not wanted. */
export type Step =
  | { readonly do: 'create' | 'replace'; readonly path: string; readonly content: Content }
  | { readonly do: 'link'; readonly path: string; readonly target: string }
  | { readonly do: 'record'; readonly path: string; readonly record: InstallRecord }
  | { readonly do: 'remove'; readonly path: string }
  | { readonly do: 'keep' | 'skip'; readonly path: string; readonly why: string };

/** Where a file's content comes from. */
export type Content =
  | { readonly from: string; readonly sha256: string; readonly mode: number }
  | { readonly text: string; readonly sha256: string; readonly mode: number };

/** What is to be done, or why nothing can be. */
export interface Plan {
  readonly steps: readonly Step[];
  /** Paths that hold something that is not Heddle's. */
  readonly inTheWay: readonly string[];
}

/** What a plan is made from. */
export interface InstallSituation {
  /** The version of Heddle that is to be installed. */
  readonly version: string;
  readonly directory: string;
  readonly program: Content;
  /** The agent's client, when the links are to lead there. */
  readonly client: Content | undefined;
  /** The plugin types that get a link. */
  readonly types: readonly string[];
  readonly record: InstallRecord;
  readonly present: (path: string) => Present;
  /** The first network, and the configurations that are there already; a network is only made where none is. */
  readonly network:
    | { readonly path: string; readonly content: Content; readonly others: readonly string[] }
    | undefined;
  /** The link by which the command is to be typed. */
  readonly command: { readonly path: string; readonly target: string } | undefined;
}

/** The plan for an installation. With nothing to do it only keeps. */
export function planInstall(situation: InstallSituation): Plan {
  const { version, directory, types, network, command, client, present } = situation;
  const at = (name: string) => join(directory, name);
  const files = [
    fileStep(situation, at(PROGRAM), situation.program),
    ...leftover(situation, at(FORMER_ADDON)),
    ...(client === undefined ? [] : [fileStep(situation, at(CLIENT), client)]),
    ...types.map((type) => linkStep(at(type), present(at(type)), client === undefined ? PROGRAM : CLIENT)),
    ...(command === undefined ? [] : [commandStep(situation, command)]),
    ...(network === undefined ? [] : [networkStep(situation, network)]),
  ];
  const inTheWay = files.flatMap((step) => (step.do === 'in-the-way' ? [step.path] : []));
  const steps = files.filter((step) => step.do !== 'in-the-way');
  if (inTheWay.length > 0) return { steps: [], inTheWay };
  const written = steps.flatMap((step) => ('content' in step ? [step] : []));
  // First the claim, so that an installation that is cut short knows its files when it is tried again.
  const claimed = written.reduce(
    (so, { path, content }) => claiming(so, path, content.sha256),
    situation.record,
  );
  const links = command === undefined ? claimed.links : { ...claimed.links, [command.path]: command.target };
  const record = { ...claimed, heddle: version, links };
  if (isDeepStrictEqual(record, situation.record)) return { steps, inTheWay };
  return { steps: [{ do: 'record', path: at(RECORD_NAME), record }, ...steps], inTheWay };
}

/** What a removal is planned from. */
export type UninstallSituation = Pick<InstallSituation, 'directory' | 'record' | 'present'> & {
  /** The names in the directory. */
  readonly names: readonly string[];
};

/** The plan for a removal. What was changed since it was installed stays, and is in the way. */
export function planUninstall({ directory, record, present, names }: UninstallSituation): Plan {
  const inDirectory = (path: string) => path.startsWith(join(directory, '/'));
  const recorded = Object.keys(record.files);
  const networks = recorded.filter((path) => !inDirectory(path));
  const commands = Object.keys(record.links);
  const links = names
    .map((name) => join(directory, name))
    .filter((path) => isOwnLink(present(path)))
    .toSorted();
  // The program goes after what starts it.
  const programs = [CLIENT, PROGRAM, FORMER_ADDON]
    .filter((name) => names.includes(name))
    .map((name) => join(directory, name));
  const inTheWay: string[] = [];
  const removals = [...networks, ...links, ...programs, ...commands].flatMap((path): readonly Step[] => {
    const found = present(path);
    if (found.kind === 'nothing') return [];
    if (isOwn(record, path, found)) return [{ do: 'remove', path }];
    inTheWay.push(path);
    return [{ do: 'keep', path, why: 'it was changed since it was installed' }];
  });
  const recordPath = join(directory, RECORD_NAME);
  const isRecorded = present(recordPath).kind === 'file';
  return {
    steps: [...removals, ...(isRecorded ? [{ do: 'remove', path: recordPath } as const] : [])],
    inTheWay,
  };
}

type FileStep = Step | { readonly do: 'in-the-way'; readonly path: string };

function fileStep({ record, present }: InstallSituation, path: string, content: Content): FileStep {
  const found = present(path);
  if (found.kind === 'nothing') return { do: 'create', path, content };
  if (found.kind !== 'file') return { do: 'in-the-way', path };
  if (found.sha256 === content.sha256) return { do: 'keep', path, why: 'it is this version already' };
  return isClaimed(record, path, found.sha256)
    ? { do: 'replace', path, content }
    : { do: 'in-the-way', path };
}

/** Takes away what an older version needed, unless it was changed. */
function leftover({ record, present }: InstallSituation, path: string): readonly FileStep[] {
  const found = present(path);
  const isOurs = found.kind === 'file' && isClaimed(record, path, found.sha256);
  return isOurs ? [{ do: 'remove', path }] : [];
}

function linkStep(path: string, found: Present, target: string): FileStep {
  if (found.kind === 'link' && found.target === target) {
    return { do: 'keep', path, why: `it leads to ${target} already` };
  }
  return found.kind === 'nothing' || isOwnLink(found)
    ? { do: 'link', path, target }
    : { do: 'in-the-way', path };
}

/** A network in use is never changed, not even one that an older Heddle wrote. */
function networkStep(
  { present }: InstallSituation,
  network: NonNullable<InstallSituation['network']>,
): FileStep {
  const { path, content, others } = network;
  if (present(path).kind !== 'nothing') return { do: 'keep', path, why: 'the network is there already' };
  if (others.length === 0) return { do: 'create', path, content };
  return { do: 'skip', path, why: `there are networks already (${others.join(', ')})` };
}

function commandStep(
  { record, present }: InstallSituation,
  { path, target }: NonNullable<InstallSituation['command']>,
): FileStep {
  const found = present(path);
  if (found.kind === 'nothing') return { do: 'link', path, target };
  if (found.kind !== 'link') return { do: 'in-the-way', path };
  if (found.target === target) return { do: 'keep', path, why: `it leads to ${target} already` };
  return isClaimedLink(record, path, found.target)
    ? { do: 'link', path, target }
    : { do: 'in-the-way', path };
}

function isOwn(record: InstallRecord, path: string, found: Present): boolean {
  if (found.kind === 'file') return isClaimed(record, path, found.sha256);
  return isOwnLink(found) || (found.kind === 'link' && isClaimedLink(record, path, found.target));
}

function isOwnLink(found: Present): boolean {
  return found.kind === 'link' && (found.target === PROGRAM || found.target === CLIENT);
}

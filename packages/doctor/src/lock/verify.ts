/** Compares a node with its lock, item by item. */
import type { Finding } from '../finding.ts';
import { found } from '../rule.ts';
import type { Features } from './features.ts';
import type { Lock, LockedPlugin } from './lock.ts';
import {
  badSignature,
  featureMissing,
  fileAdded,
  fileChanged,
  fileMissing,
  otherNetwork,
  pluginAdded,
  pluginChanged,
  pluginMissing,
  pluginMoved,
  versionsChanged,
} from './rules.ts';
import { checkSignature } from './sign.ts';
import type { Taken } from './take.ts';

/** How to compare. */
export interface VerifyOptions {
  /** The lock's own file, for places. */
  readonly lockFile: string;
  /** The directory of networks, for places. */
  readonly directory: string;
  /** Tries features of the kernel; left out, they are not looked at. */
  readonly features?: Features | undefined;
  /** The key that must have signed the lock, in PEM. */
  readonly verifyKey?: string | undefined;
  /** What errors call that key: its file. */
  readonly verifyKeyName?: string | undefined;
}

/**
 * The differences, each as a finding; none when the node is as the lock says.
 *
 * @param present the node as it is now, by `takeLock`
 * @throws {UsageError} when the key is none
 */
export async function verifyLock(
  lock: Lock,
  present: Taken,
  options: VerifyOptions,
): Promise<readonly Finding[]> {
  return [
    ...signatureFindings(lock, options),
    ...networkFindings(lock, present, options),
    ...fileFindings(lock, present, options),
    ...pluginFindings(lock, present),
    ...(await kernelFindings(lock, options.features)),
  ];
}

const AGAIN = 'if the change is meant, take the lock anew with `heddle lock`';

function signatureFindings(
  lock: Lock,
  { lockFile, verifyKey, verifyKeyName }: VerifyOptions,
): readonly Finding[] {
  if (verifyKey === undefined) return [];
  const problem = checkSignature(lock, verifyKey, verifyKeyName);
  if (problem === undefined) return [];
  const what = {
    unsigned: 'the lock is not signed',
    'another key': 'the lock is signed by another key',
    'does not fit': 'the lock was changed after it was signed',
  }[problem];
  return [
    found(badSignature, {
      ...{ place: { file: lockFile }, what },
      consequence: 'What it says of this node cannot be relied on.',
      remedy: 'get the lock from where it is kept, or sign it with `heddle lock --sign`',
    }),
  ];
}

function networkFindings(lock: Lock, { lock: now }: Taken, { directory }: VerifyOptions): readonly Finding[] {
  if (lock.network === now.network) return [];
  return [
    found(otherNetwork, {
      place: { file: directory },
      what:
        now.network === undefined
          ? `no network is in force; it was ${lock.network}`
          : `the network in force is ${now.network}; it was ${lock.network ?? 'none'}`,
      consequence:
        now.network === undefined
          ? 'New Pods get no network: they stay in ContainerCreating.'
          : `New Pods are attached to ${now.network}.`,
      remedy: `${networkRemedy(lock.network, now)}; ${AGAIN}`,
    }),
  ];
}

/** What brings the network back that was in force. */
function networkRemedy(before: string | undefined, { network, files }: Lock): string {
  const added = files.find((file) => file.network === network && network !== undefined)?.path;
  const remove = added === undefined ? undefined : `remove ${added}`;
  const restore =
    before === undefined || files.some((file) => file.network === before)
      ? undefined
      : `put back the file of ${before}`;
  return [restore, remove].filter((each) => each !== undefined).join(', or ') || `mend the file of ${before}`;
}

function fileFindings(
  lock: Lock,
  { lock: now, unpinned }: Taken,
  { directory }: VerifyOptions,
): readonly Finding[] {
  const placeOf = (path: string) => ({ place: { file: `${directory}/${path}` } });
  const known = new Set(lock.files.map(({ path }) => path));
  const changed = lock.files.flatMap((file): readonly Finding[] => {
    const { path, sha256, network = 'no network' } = file;
    const own = now.files.find((each) => each.path === path);
    if (own === undefined) {
      const why = unpinned.find(({ what }) => what === `${directory}/${path}`)?.why;
      return [
        found(fileMissing, {
          ...placeOf(path),
          what: why === undefined ? `${path} is gone` : `${path} cannot be read: ${why}`,
          consequence: `Nothing can be attached to ${network} any more.`,
          remedy: `put it back; ${AGAIN}`,
        }),
      ];
    }
    if (own.sha256 === sha256) return [];
    return [
      found(fileChanged, {
        ...placeOf(path),
        what: `${path} was changed`,
        consequence: `Attachments to ${own.network ?? network} are made in another way than was locked.`,
        remedy: `put back what was there; ${AGAIN}`,
        evidence: [`sha256 is ${own.sha256}`, `was ${sha256}`],
      }),
    ];
  });
  const added = now.files
    .filter(({ path }) => !known.has(path))
    .map(({ path, network }) =>
      found(fileAdded, {
        ...placeOf(path),
        what: `${path} is not in the lock`,
        consequence: `There is ${network === undefined ? 'a file that holds no network' : `the network ${network}`} more than was locked.`,
        remedy: `remove it; ${AGAIN}`,
      }),
    );
  return [...changed, ...added];
}

function pluginFindings(lock: Lock, { lock: now, unpinned }: Taken): readonly Finding[] {
  const known = new Set(lock.plugins.map(({ type }) => type));
  const added = now.plugins
    .filter(({ type }) => !known.has(type))
    .map(({ type, path, sha256 }) =>
      found(pluginAdded, {
        ...{ subject: `plugin ${type}`, what: `${path} is used and not in the lock` },
        consequence: 'It runs as root for each container, and nobody has pinned it.',
        remedy: `put back the configuration that was locked; ${AGAIN}`,
        evidence: [`sha256 is ${sha256}`],
      }),
    );
  return [...lock.plugins.flatMap((plugin) => compared(plugin, now, unpinned)), ...added];
}

function compared(plugin: LockedPlugin, now: Lock, unpinned: Taken['unpinned']): readonly Finding[] {
  const { type, path, sha256, versions } = plugin;
  const subject = `plugin ${type}`;
  const own = now.plugins.find((each) => each.type === type);
  if (own === undefined) {
    const why = unpinned.find(({ what }) => what === subject)?.why;
    // No configuration names it any more: that the configuration is another is told.
    if (why === undefined) return [];
    return [
      found(pluginMissing, {
        ...{ subject, what: why },
        consequence: 'Containers of its networks cannot be attached, nor detached.',
        remedy: `install the program that was at ${path}`,
      }),
    ];
  }
  if (own.sha256 !== sha256) {
    return [
      found(pluginChanged, {
        ...{ subject, what: `${own.path} is another program than was locked` },
        consequence: 'It runs as root for each container, and nobody has pinned it.',
        remedy: `install the program that was there; ${AGAIN}`,
        evidence: [
          `sha256 is ${own.sha256}`,
          `was ${sha256}${own.path === path ? '' : ` (at ${path})`}`,
          ...(same(own.versions, versions)
            ? []
            : [`speaks ${words(own.versions)}`, `spoke ${words(versions)}`]),
        ],
      }),
    ];
  }
  const moved =
    own.path === path
      ? []
      : [
          found(pluginMoved, {
            ...{ subject, what: `${type} is found at ${own.path}; it was at ${path}` },
            consequence: 'None now: it is the same program.',
            remedy: `see that the plugin directories are those that were meant; ${AGAIN}`,
          }),
        ];
  if (same(own.versions, versions)) return moved;
  return [
    ...moved,
    found(versionsChanged, {
      ...{ subject, what: `${own.path} speaks ${words(own.versions)}; it was ${words(versions)}` },
      consequence: 'Networks of a version that it does not speak any more cannot be attached.',
      remedy: `look at what it starts in turn; ${AGAIN}`,
    }),
  ];
}

async function kernelFindings(lock: Lock, features: Features | undefined): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const feature of features === undefined ? [] : lock.kernel) {
    const problem = await features?.problem(feature);
    if (problem === undefined) continue;
    findings.push(
      found(featureMissing, {
        ...{ subject: 'kernel', what: `the kernel cannot do "${feature}"` },
        consequence: 'Plugins of the locked networks that need it fail.',
        remedy: 'load the module, or boot a kernel that has it',
        evidence: [problem],
      }),
    );
  }
  return findings;
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((each, index) => each === b[index]);
}

function words(versions: readonly string[]): string {
  return versions.length === 0 ? 'does not say' : versions.join(', ');
}

/** Which file each runtime takes of a directory, and why: their rules differ. */
import { isConfigPath } from '@heddle/cni';
import type { AuditedFile } from './file.ts';
import { type Network, networksOf } from './network.ts';

/** A container runtime, as far as it chooses files differently. */
export type RuntimeName = 'containerd' | 'crio' | 'podman';

/** The runtimes that are known. */
export const RUNTIME_NAMES: readonly RuntimeName[] = ['containerd', 'crio', 'podman'];

/** What people call them. */
export const RUNTIME_TITLES: Readonly<Record<RuntimeName, string>> = {
  containerd: 'containerd',
  crio: 'CRI-O',
  podman: 'Podman',
};

/** What a runtime makes of a directory. */
export interface Selection {
  readonly runtime: RuntimeName;
  /** The file that pods get their network from; nothing when there is none. */
  readonly chosen?: AuditedFile;
  /** The file that keeps the runtime from having any network. */
  readonly stoppedBy?: AuditedFile;
}

/** A directory that is audited as a whole. */
export interface AuditedDirectory {
  readonly path: string;
  /** Why it cannot be read, in words. */
  readonly unreadable?: string;
  /** All its files in the byte order of their names, those that are no configurations among them. */
  readonly files: readonly AuditedFile[];
}

/** What each runtime that takes the first file does with a directory. Podman takes networks by name; see `select`. */
export function selectFor(runtime: Exclude<RuntimeName, 'podman'>, directory: AuditedDirectory): Selection {
  for (const file of directory.files) {
    if (!isConfigPath(file.path)) continue;
    if (isLoadable(file)) return { runtime, chosen: file };
    // containerd gives up at the first file that it cannot read; CRI-O goes on.
    if (runtime === 'containerd') return { runtime, stoppedBy: file };
  }
  return { runtime };
}

/** Whether a runtime that reads a file gets a network from it. */
export function isLoadable(file: AuditedFile): boolean {
  return file.document?.memo.once(file, judge) ?? false;
}

function judge(file: AuditedFile): boolean {
  const { document, encoding, role, unreadable, siblings = [] } = file;
  if (unreadable !== undefined || document === undefined || document.errors.length > 0) return false;
  if (encoding !== undefined && encoding !== 'damaged') return false;
  if (siblings.some((sibling) => sibling.document === undefined || sibling.document.errors.length > 0))
    return false;
  const [network] = networksOf(file);
  if (network === undefined) return false;
  const first = network.parts[0];
  if (role === 'single') return first?.type !== undefined && !network.isList;
  return network.isList && typeof network.raw['name'] === 'string' && hasPlugins(network);
}

function hasPlugins({ parts }: Network): boolean {
  return parts.length > 0 && parts.every(({ type }) => type !== undefined && type !== '');
}

/** ADD: sets kernel parameters and changes the interface, after writing down what it was like. */
import { ConfigError, type Result } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import { SysError } from '@heddle/sys';
import { requireAllowed } from './allowlist.ts';
import { backupPath, formatBackup, parseBackup, readText, removeBackup, writeText } from './backup.ts';
import {
  changesLink,
  checkLinkSettings,
  type LinkSettings,
  refuseDuplicates,
  settingsOf,
  type TuningConfig,
} from './config.ts';
import { announcementSettings, applyAll, changesOf, currentSettings, setBack } from './link-settings.ts';
import { dataDirOf, type Places } from './places.ts';
import { readRecord, removeRecord, writeRecord } from './record.ts';
import { sysctlsByPath } from './sysctl-path.ts';

type Call = AddCall<TuningConfig>;

/** See the file's comment. */
export async function add(call: Call, places: Places): Promise<Result> {
  const { config, args, ifName, prevResult } = call;
  refuseDuplicates(call.stdin);
  const settings = settingsOf(config, args['MAC']);
  requireAllowed(settings.sysctls.keys(), places.allowlist);
  const sysctls = sysctlsByPath(settings.sysctls, ifName);
  checkLinkSettings(settings.link);
  if (prevResult === undefined)
    throw new ConfigError('Required prevResult missing', { pointer: '/prevResult' });
  if (sysctls.size > 0 || changesLink(settings)) await record(call, dataDirOf(config, places), sysctls);
  for (const [path, value] of sysctls) await setSysctl(call, path, value);
  if (changesLink(settings)) await changeLink(call, dataDirOf(config, places), settings.link);
  return resultOf(prevResult, ifName, settings.link);
}

/** Of parameters that are set already, the record of before knows better what they were. */
async function record(call: Call, dataDir: string, sysctls: ReadonlyMap<string, string>): Promise<void> {
  const { attachment, container, undo } = call;
  const earlier = readRecord(dataDir, attachment);
  const before: Record<string, string> = {};
  for (const path of sysctls.keys()) {
    const value = await readIfPossible(container.sysctl, path);
    if (value !== undefined) before[path] = value;
  }
  undo.push('take the record back', async () => {
    if (earlier === undefined) removeRecord(dataDir, attachment);
    else writeRecord(dataDir, attachment, earlier.sysctls);
  });
  writeRecord(dataDir, attachment, { ...before, ...earlier?.sysctls });
}

async function setSysctl(call: Call, path: string, value: string): Promise<void> {
  await rememberSysctl(call, path);
  await call.container.sysctl.write(path, value);
}

async function rememberSysctl({ container, undo }: Call, path: string): Promise<void> {
  const before = await readIfPossible(container.sysctl, path);
  if (before !== undefined) undo.push(`set ${path} back`, () => container.sysctl.write(path, before));
}

/** Some parameters can only be written, and some do not exist. */
async function readIfPossible(
  sysctl: Call['container']['sysctl'],
  path: string,
): Promise<string | undefined> {
  try {
    return await sysctl.read(path);
  } catch (error) {
    if (SysError.is(error, 'ENOENT', 'EACCES', 'EPERM', 'EINVAL', 'EIO')) return undefined;
    throw error;
  }
}

async function changeLink(call: Call, dataDir: string, wanted: LinkSettings): Promise<void> {
  const { container, ifName, undo } = call;
  const link = await container.links.get(ifName);
  const before = currentSettings(link, wanted);
  backUp(call, dataDir, before);
  if (wanted.mac !== undefined) {
    for (const setting of announcementSettings(ifName)) await rememberSysctl(call, setting);
  }
  undo.push(`set ${ifName} back`, () => setBack(container, ifName, before));
  await applyAll(changesOf(container, ifName, wanted, link.index));
}

/** Of an interface that is tuned already, the backup knows better what it was like. */
function backUp(call: Call, dataDir: string, current: LinkSettings): void {
  const path = backupPath(dataDir, call.containerID, call.ifName);
  const earlier = readText(path);
  const original = earlier === undefined ? {} : parseBackup(earlier);
  if (original === undefined) call.warn(`${path} is no backup, and is replaced by one`);
  call.undo.push(`restore ${path}`, async () => {
    if (earlier === undefined) removeBackup(path);
    else writeText(dataDir, path, earlier);
  });
  writeText(dataDir, path, formatBackup({ ...current, ...original }));
}

/** The result with what has changed about the interface that it lists. */
function resultOf(prevResult: Result, ifName: string, { mac, mtu }: LinkSettings): Result {
  if (prevResult.interfaces === undefined || (mac === undefined && mtu === undefined)) return prevResult;
  const interfaces = prevResult.interfaces.map((entry) => {
    if (entry.name !== ifName) return entry;
    const isListed = mtu !== undefined && entry.mtu !== undefined;
    return { ...entry, ...(mac !== undefined && { mac }), ...(isListed && { mtu }) };
  });
  return { ...prevResult, interfaces };
}

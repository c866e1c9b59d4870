/** DEL: interface and kernel parameters are as they were before, if they are still there, and the backup is gone. */
import { type DelCall, isAbsent } from '@heddle/cni/plugin';
import { backupPath, parseBackup, readText, removeBackup } from './backup.ts';
import { changesLink, settingsOf, type TuningConfig } from './config.ts';
import { applyEach, changesOf, type SettingChange } from './link-settings.ts';
import { dataDirOf, type Places } from './places.ts';
import { readRecord, removeRecord } from './record.ts';

type Call = DelCall<TuningConfig>;

/** See the file's comment. What cannot be restored is warned of: nobody could do more about it, and DEL goes on. */
export async function del(call: Call, places: Places): Promise<void> {
  const { config, args, containerID, ifName, teardown } = call;
  const dataDir = dataDirOf(config, places);
  const path = backupPath(dataDir, containerID, ifName);
  const text = await teardown.step('read the backup', () => readText(path));
  await setParametersBack(call, dataDir);
  const container = await interfaceOwner(call);
  if (text === undefined) {
    if (container !== undefined && changesLink(settingsOf(config, args['MAC']))) {
      call.warn(`${ifName} stays as it is: there is no backup ${path}`);
    }
    await teardown.step('remove what a killed ADD was writing', () => removeBackup(path));
    return;
  }
  const original = parseBackup(text);
  if (original === undefined) call.warn(`${path} is no backup: ${ifName} stays as it is`);
  const failed = container === undefined ? [] : await restore(changesOf(container, ifName, original ?? {}));
  if (failed.length > 0) call.warn(`${path} is kept: ${failed.join('; ')}`);
  else await teardown.step('remove the backup', () => removeBackup(path));
}

/** What the interface's going has taken away is no loss. */
async function setParametersBack(call: Call, dataDir: string): Promise<void> {
  const { attachment, container, teardown } = call;
  const record = await teardown.step('read the record', () => readRecord(dataDir, attachment));
  for (const [path, value] of Object.entries(record?.sysctls ?? {})) {
    try {
      await container?.sysctl.write(path, value);
    } catch (error) {
      if (!isAbsent(error))
        call.warn(`${path} stays as it is: ${error instanceof Error ? error.message : error}`);
    }
  }
  await teardown.step('remove the record', () => removeRecord(dataDir, attachment));
}

/** The container's session, if the interface is there. */
async function interfaceOwner({ container, ifName, teardown }: Call): Promise<Call['container']> {
  const link = await teardown.step(`find ${ifName}`, () => container?.links.find(ifName));
  return link === undefined ? undefined : container;
}

/** The MTU first, as the reference has it. Returns what failed. */
function restore(changes: readonly SettingChange[]): Promise<readonly string[]> {
  const isMtu = ({ what }: SettingChange) => what.startsWith('set mtu');
  return applyEach([...changes.filter(isMtu), ...changes.filter((each) => !isMtu(each))]);
}

/** What follows when a runtime refuses a file: which network is in force instead. */
import type { Subject } from '../audit-rule.ts';
import type { AuditedFile } from '../model/file.ts';
import { RUNTIME_TITLES, type Selection, selectFor } from '../model/selection.ts';

/** The consequence of a file that cannot be used, and what each runtime does instead. */
export function refused(
  file: AuditedFile,
  { directories }: Subject,
): { readonly consequence: string; readonly evidence?: readonly string[] } {
  const directory = directories.find(({ files }) => files.includes(file));
  if (file.role === 'sibling')
    return { consequence: `The whole list that this plugin belongs to is refused.` };
  if (directory === undefined)
    return { consequence: 'Every runtime refuses the file: its network does not exist.' };
  const evidence = (['containerd', 'crio'] as const).map((runtime) => inForce(selectFor(runtime, directory)));
  return { consequence: 'Every runtime refuses the file: its network does not exist.', evidence };
}

function inForce({ runtime, chosen, stoppedBy }: Selection): string {
  const who = RUNTIME_TITLES[runtime];
  if (stoppedBy !== undefined)
    return `in force for ${who}: nothing, it stops at ${stoppedBy.name}; pods stay in ContainerCreating`;
  if (chosen === undefined) return `in force for ${who}: nothing; pods stay in ContainerCreating`;
  return `in force for ${who}: ${chosen.name}`;
}

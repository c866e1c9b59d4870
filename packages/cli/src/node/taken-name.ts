import { listNodes } from '@heddle/routing';
import type { Store } from '@heddle/store';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';

/** Looks whether the name is free, or this machine's. @throws {CommandError} when another machine has it */
export async function refuseTakenName(store: Store, name: string, instance: string): Promise<void> {
  const taken = (await listNodes(store)).find((node) => node.name === name);
  const other = taken?.record?.instance ?? taken?.member?.instance;
  if (other === undefined || other === instance) return;
  const addresses = taken?.record?.underlay.join(' ') ?? '';
  throw new CommandError(
    EXIT.FAILED,
    `node ${name} is in the cluster already, as another machine: ${addresses || other}`,
    {
      hint: 'choose another --name; a machine that is gone for good is taken out with `heddle node rm`',
    },
  );
}

/** What attachments of a node hold, as it stands in the store. */
import { type Member, read, readAll, type Stored } from './member.ts';
import { type HandleRecord, handleCodec, KEYS } from './records.ts';

/** What a handle of the member's node holds; `undefined` for nothing. */
export function findHandle(
  { store, node }: Member,
  handle: string,
): Promise<Stored<HandleRecord> | undefined> {
  return read<HandleRecord>(store, handleCodec, KEYS.handle(node, handle));
}

/** What all handles of the member's node that begin so hold. @example await listHandles(member, 'pods/') */
export function listHandles(
  { store, node }: Member,
  beginning = '',
): Promise<readonly Stored<HandleRecord>[]> {
  return readAll<HandleRecord>(store, handleCodec, KEYS.handle(node, beginning));
}

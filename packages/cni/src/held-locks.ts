/**
 * The variable that tells a plugin which locks its callers hold: a plugin may itself start plugins, for the same
 * container, and these must not wait for the operation that they are part of.
 */

/** Its name. The value lists locks by name, between commas. */
export const HELD_LOCKS = 'HEDDLE_LOCKS';

/** The names of the locks that are held further up. */
export function heldLocks(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return (env[HELD_LOCKS] ?? '').split(',').filter((name) => name !== '');
}

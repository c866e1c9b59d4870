/** Names of links — dev_valid_name, __dev_alloc_name in net/core/dev.c */
import type { Namespace } from '../core/namespace.ts';
import { refuse } from '../core/refusal.ts';
import { findLink } from './find.ts';

/** IFNAMSIZ without the NUL. */
const NAME_MAX = 15;

/**
 * The name that a link gets: the one that is asked for, or the first free one of a pattern with `%d`.
 * Refuses one that is taken with EEXIST, one that is none with EINVAL.
 */
export function freeName(namespace: Namespace, name: string): string {
  const isValid =
    name !== '' && name.length <= NAME_MAX && name !== '.' && name !== '..' && !/[/:\s]/.test(name);
  if (!isValid) refuse('EINVAL');
  if (!name.includes('%')) {
    if (findLink(namespace, { name }) !== undefined) refuse('EEXIST');
    return name;
  }
  const [before, after, ...more] = name.split('%d');
  if (after === undefined || more.length > 0 || `${before}${after}`.includes('%')) refuse('EINVAL');
  for (let number = 0; ; number++) {
    const candidate = `${before}${number}${after}`;
    if (findLink(namespace, { name: candidate }) === undefined) return candidate;
  }
}

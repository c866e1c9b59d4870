/** What is behind failures of plugins that give addresses. */
import type { Explanation } from '../explanations.ts';

/** See the file's comment. */
export const ADDRESS_EXPLANATIONS: readonly Explanation[] = [
  {
    subjects: ['host-local'],
    checks: ['ipam/try-again'],
    text: 'An exhausted pool has no code of its own: it is 999.',
  },
  {
    pages: ['reference'],
    subjects: ['host-local'],
    checks: ['gc/without-a-list'],
    text: 'A list that is missing counts as one that is empty, and every reservation of the network is freed.',
  },
  {
    pages: ['reference'],
    subjects: ['host-local'],
    checks: ['status/exhausted'],
    text: 'STATUS does not look at the pool.',
  },
];

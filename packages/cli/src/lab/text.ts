/** A lab for people. */
import type { LabStatus } from '@heddle/lab';
import { formatTable } from '../output/table.ts';

/** Its nodes and pods as a table. */
export function labText({ nodes, segments, etcd }: LabStatus, styled: boolean): string {
  const rows = nodes.map((node) => ({
    ...node,
    mtu: String(segments.find(({ name }) => name === node.segment)?.mtu ?? ''),
  }));
  const table = formatTable(
    [
      { title: 'NODE', value: ({ name }) => name },
      { title: 'SEGMENT', value: ({ segment }) => segment },
      { title: 'MTU', value: ({ mtu }) => mtu, align: 'right' },
      { title: 'STATE', value: ({ cut }) => (cut ? 'cut off' : 'connected') },
      { title: 'ADDRESSES', value: ({ addresses }) => addresses.join(' ') },
      { title: 'PODS', value: ({ pods }) => pods.map(({ name }) => name).join(' ') },
    ],
    rows,
    styled,
  );
  return etcd.length === 0 ? table : `${table}\nstore: ${etcd.join(', ')}\n`;
}

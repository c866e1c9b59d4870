/** The demo's last chapter: a cluster. */
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { chapter, run, runAnyhow, say, statusOf } from './stage.ts';

const MATRIX = ['heddle', 'lab', 'matrix', '--timeout', '20000'] as const;
/** For when some are silent. */
const SHORT_MATRIX = ['heddle', 'lab', 'matrix', '--timeout', '2000'] as const;

/** Makes a cluster of three nodes, cuts one of them off, heals it, and takes all of it away. */
export async function showCluster(): Promise<void> {
  chapter(
    '6. A cluster',
    'Three nodes on two segments with a router in between; each is a machine of its own to all that runs on it. They\nare joined by `heddle up`, and their pods reach each other: directly on one segment, in VXLAN across the router.',
  );
  run(['heddle', 'lab', 'up', '--nodes', '3', '--topology', 'two-segments']);
  try {
    say(
      '\nEverybody asks every pod, by ping, UDP and TCP. 4 and 6 are the families by which all three came through:',
    );
    await settle();
    run(MATRIX);
    say('\nWhat node1 knows of the others:');
    run(['heddle', 'lab', 'exec', 'node1', '--', 'ip', 'route', 'show', 'proto', '72']);
    say(
      '\nThe cable of node2 is pulled. Its pod is cut off from all others, and they from it, and nobody else:',
    );
    run(['heddle', 'lab', 'cut', 'node2']);
    if (runAnyhow(SHORT_MATRIX) === 0) throw new Error('a node that is cut off is reached');
    say('\nAnd it is put back:');
    run(['heddle', 'lab', 'heal', 'node2']);
    await settle();
    run(MATRIX);
  } finally {
    run(['heddle', 'lab', 'down']);
  }
  if (existsSync('/run/heddle/lab')) throw new Error('something is left of the cluster');
  say('\nNothing is left of the cluster.');
}

/** Waits until all ways are open: nodes hear of each other, and neighbours that were lost are asked for anew. */
async function settle(): Promise<void> {
  for (let tries = 0; statusOf(...SHORT_MATRIX) !== 0; tries++) {
    if (tries === 120) throw new Error('not all ways are open');
    await pause(500);
  }
}

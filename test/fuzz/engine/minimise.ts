/** Smaller inputs that still do the same. */
import { listsOf, readTree, type TreeNode, writeTree } from './attribute-tree.ts';
import { joined, remove } from './mutate-bytes.ts';
import type { Shape } from './target.ts';

/**
 * The smallest input that can be reached step by step and for which `holds` is still true.
 *
 * @param tries how many candidates are looked at
 */
export async function minimise(
  input: Uint8Array,
  shape: Shape,
  holds: (candidate: Uint8Array) => Promise<boolean>,
  tries: number,
): Promise<Uint8Array> {
  let best = input;
  let left = tries;
  for (let improved = true; improved; ) {
    improved = false;
    for (const candidate of reductions(best, shape)) {
      if (left-- === 0) return best;
      if (candidate.length >= best.length || !(await holds(candidate))) continue;
      best = candidate;
      improved = true;
      break;
    }
  }
  return best;
}

/** Attributes that are left out, large ones first; then stretches of bytes, long ones first. */
function* reductions(input: Uint8Array, shape: Shape): Generator<Uint8Array> {
  if (shape.of === 'attributes' && input.length >= shape.header)
    yield* withoutAttributes(input, shape.header);
  for (let size = input.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at + size <= input.length; at += size) yield remove(input, at, size);
  }
}

function* withoutAttributes(input: Uint8Array, header: number): Generator<Uint8Array> {
  const tree = readTree(input.subarray(header));
  if (tree === undefined) return;
  const rest = (nodes: readonly TreeNode[]) => joined([input.subarray(0, header), writeTree(nodes)]);
  for (const list of listsOf(tree)) {
    for (let at = 0; at < list.length; at++) {
      const [node] = list.splice(at, 1);
      yield rest(tree);
      if (node !== undefined) list.splice(at, 0, node);
    }
  }
}

/** Changes to netlink attributes as such: their order, number, types, payloads and nesting. */
import { listsOf, readTree, type TreeNode, writeTree } from './attribute-tree.ts';
import { changeBytes, joined, type Materials } from './mutate-bytes.ts';

/** The input after one change. `header` is the size of the struct in front. */
export function changeAttributes(input: Uint8Array, header: number, materials: Materials): Uint8Array {
  const { choices } = materials;
  const tree = input.length < header ? undefined : readTree(input.subarray(header));
  if (tree === undefined || choices.chance(2)) return changeBytes(input, materials);
  const lists = listsOf(tree);
  const list = lists[choices.below(lists.length)] ?? tree;
  const at = choices.below(list.length);
  const node = list[at];
  if (node === undefined) list.push(foreign(header, materials));
  else change({ list, lists, at, node }, header, materials);
  return joined([input.subarray(0, header), writeTree(tree)]);
}

interface Place {
  readonly lists: readonly TreeNode[][];
  readonly list: TreeNode[];
  readonly at: number;
  readonly node: TreeNode;
}

function change({ lists, list, at, node }: Place, header: number, materials: Materials): void {
  const { choices } = materials;
  switch (choices.below(8)) {
    case 0:
      list.splice(at, 1);
      break;
    case 1:
      list.splice(choices.below(list.length + 1), 0, node);
      break;
    case 2:
      list.push(...list.splice(at, 1));
      break;
    case 3:
      node.type = choices.chance(7) ? 1 + choices.below(40) : choices.below(0x10000);
      break;
    case 4:
      list[at] = foreign(header, materials);
      break;
    case 5: {
      // A part of the tree inside another one, or inside itself.
      const within = lists[choices.below(lists.length)] ?? list;
      within.push(structuredClone(node));
      break;
    }
    case 6:
      list[at] = { ...node, header: new Uint8Array(0), children: structuredClone(list) };
      break;
    default:
      changePayload(node, materials);
  }
}

function changePayload(node: TreeNode, materials: Materials): void {
  const payload = node.children === undefined ? node.payload : writeTree(node.children);
  node.payload = changeBytes(payload, materials);
  if (node.children !== undefined) node.children = undefined;
}

/** An attribute of another input, or a new one. */
function foreign(header: number, materials: Materials): TreeNode {
  const { choices, other } = materials;
  const lists = listsOf(readTree(other().subarray(header)) ?? []);
  const list = lists[choices.below(lists.length)] ?? [];
  const fresh = () => ({
    type: choices.below(40),
    header: new Uint8Array(0),
    children: undefined,
    payload: new Uint8Array(choices.one([0, 1, 2, 4, 8, 16])),
  });
  return list[choices.below(list.length)] ?? fresh();
}

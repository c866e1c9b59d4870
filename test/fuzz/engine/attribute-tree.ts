/**
 * Netlink attributes as a tree, by a reader of the fuzzer's own: whatever looks as if it were made of attributes is
 * taken for that. Written again, all lengths are right, so that a change deep inside reaches the decoder of that place.
 */
import { joined } from './mutate-bytes.ts';

/** An attribute: bytes, or attributes inside, behind a struct where `header` has bytes. */
export interface TreeNode {
  type: number;
  header: Uint8Array;
  children: TreeNode[] | undefined;
  payload: Uint8Array;
}

const HEADER = 4;
const DEEPEST = 24;

/** The attributes in `bytes`; `undefined` where these are none. */
export function readTree(bytes: Uint8Array, depth = 0): TreeNode[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const nodes: TreeNode[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes.length - at < HEADER) return undefined;
    const length = view.getUint16(at, true);
    if (length < HEADER || at + length > bytes.length) return undefined;
    nodes.push(readNode(view.getUint16(at + 2, true), bytes.subarray(at + HEADER, at + length), depth));
    at += (length + 3) & ~3;
  }
  return nodes;
}

function readNode(type: number, payload: Uint8Array, depth: number): TreeNode {
  // Structs in front of nested attributes: none, or struct ifinfomsg of a peer.
  for (const size of [0, 16]) {
    if (payload.length < size + HEADER || depth === DEEPEST) continue;
    const children = readTree(payload.subarray(size), depth + 1);
    if (children !== undefined) return { type, header: payload.slice(0, size), children, payload: EMPTY };
  }
  return { type, header: EMPTY, children: undefined, payload: payload.slice() };
}

const EMPTY = new Uint8Array(0);

/** The bytes of attributes; an attribute holds no more than its length can tell. */
export function writeTree(nodes: readonly TreeNode[]): Uint8Array {
  return joined(
    nodes.flatMap((node) => {
      const payload = payloadOf(node).subarray(0, 0xffff - HEADER);
      const head = new Uint8Array(HEADER);
      new DataView(head.buffer).setUint16(0, HEADER + payload.length, true);
      new DataView(head.buffer).setUint16(2, node.type, true);
      return [head, payload, new Uint8Array(-payload.length & 3)];
    }),
  );
}

function payloadOf({ header, children, payload }: TreeNode): Uint8Array {
  return children === undefined ? payload : joined([header, writeTree(children)]);
}

/** All lists of attributes in a tree, the outermost first. */
export function listsOf(nodes: TreeNode[]): TreeNode[][] {
  return [nodes, ...nodes.flatMap(({ children }) => (children === undefined ? [] : listsOf(children)))];
}

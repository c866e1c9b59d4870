/** Changes in words, for error messages: `add element tcp . 8080 to map ip demo ports`. */
import type { NftChange } from './changes.ts';
import { formatKey } from './key-values.ts';
import type { NftElement, NftObject } from './model.ts';

/** What a change is about to do. */
export function describeChange({ op, object }: NftChange): string {
  if (op === 'destroy') return `${describeChange({ op: 'delete', object })} if it exists`;
  if (object.kind === 'rule' && (op === 'add' || op === 'insert')) {
    return `${op} rule to chain ${object.family} ${object.table} ${object.chain}${quoted(object.comment)}`;
  }
  if (object.kind === 'element') {
    return `${op} ${describeElement(object)} ${op === 'add' || op === 'create' ? 'to' : 'from'} ${setOf(object)}`;
  }
  return `${op} ${describeObject(object)}`;
}

/** What a change to `elements` of one set is about to do, in one message. */
export function describeElements(op: NftChange['op'], elements: readonly NftElement[]): string {
  const [first] = elements;
  if (first === undefined) return `${op} no elements`;
  if (elements.length === 1) return describeChange({ op, object: first });
  const verb = op === 'destroy' ? 'delete, where they exist,' : op;
  const where = `${op === 'add' || op === 'create' ? 'to' : 'from'} ${setOf(first)}`;
  return `${verb} ${elements.length} elements from ${formatKey(first.key)} on ${where}`;
}

/** An object by name. */
export function describeObject(object: NftObject): string {
  switch (object.kind) {
    case 'table':
      return `table ${object.family} ${object.name}`;
    case 'chain':
    case 'counter':
      return `${object.kind} ${object.family} ${object.table} ${object.name}`;
    case 'set':
      return `${object.data === undefined ? 'set' : 'map'} ${object.family} ${object.table} ${object.name}`;
    case 'rule': {
      const handle = object.handle === undefined ? '' : ` handle ${object.handle}`;
      return `rule${handle} of chain ${object.family} ${object.table} ${object.chain}${quoted(object.comment)}`;
    }
    case 'element':
      return `${describeElement(object)} of ${setOf(object)}`;
  }
}

function describeElement({ key }: NftElement): string {
  return `element ${formatKey(key)}`;
}

function setOf({ family, table, set }: NftElement): string {
  const kind = typeof set === 'object' && set.data !== undefined ? 'map' : 'set';
  return `${kind} ${family} ${table} ${typeof set === 'string' ? set : set.name}`;
}

function quoted(comment: string | undefined): string {
  return comment === undefined ? '' : ` (${comment})`;
}

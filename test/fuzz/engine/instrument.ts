/**
 * Counters for the blocks of a TypeScript module: a module is parsed, and text is inserted where a block begins. Nothing
 * else of it changes, not even its line numbers, so that stacks stay true.
 *
 * A block is the body of a function, a loop or a handler, a branch of a condition, or the right side of `&&`, `||` or
 * `??`. V8 can count them as well, but asking it takes longer than most decoders run; docs/fuzzing.md has the figures.
 */
import { type Node, parseSync } from 'oxc-parser';

/** A module with counters. */
export interface Instrumented {
  readonly code: string;
  /** How many counters it has. */
  readonly blocks: number;
  /** Texts and numbers that are written in it: what its code compares input with is mostly among them. */
  readonly literals: readonly (string | number)[];
}

/** Names in the global object that instrumented modules use. */
export const GLOBALS = { block: '__heddleBlock', loop: '__heddleLoop' } as const;

/**
 * Adds counters to a module.
 *
 * @param first the number of its first counter
 * @throws {SyntaxError} for what is no TypeScript
 */
export function instrument(source: string, file: string, first: number): Instrumented {
  const { program, errors } = parseSync(file, source);
  if (errors[0] !== undefined) throw new SyntaxError(`${file}: ${errors[0].message}`);
  const counters = new Counters(first);
  counters.visit(program);
  const prologue = `const __hb=globalThis.${GLOBALS.block},__hl=globalThis.${GLOBALS.loop};`;
  return {
    code: prologue + counters.applyTo(source),
    blocks: counters.blocks,
    literals: [...counters.literals],
  };
}

class Counters {
  readonly literals = new Set<string | number>();
  readonly #first: number;
  readonly #inserts: { readonly at: number; readonly text: string }[] = [];
  blocks = 0;

  constructor(first: number) {
    this.#first = first;
  }

  visit(node: Node): void {
    if (node.type.startsWith('TS') && !VALUES.has(node.type)) return;
    const close = this.#open(node);
    for (const child of childrenOf(node)) this.visit(child);
    close();
  }

  /** What is inserted at one place stays in the order in which it came: outer before inner, and inversely behind them. */
  applyTo(source: string): string {
    let code = '';
    let at = 0;
    for (const insert of this.#inserts.toSorted((a, b) => a.at - b.at)) {
      code += source.slice(at, insert.at) + insert.text;
      at = insert.at;
    }
    return code + source.slice(at);
  }

  /** Returns what comes behind the node. */
  #open(node: Node): () => void {
    const role = this.#roles.get(node);
    const close = role === undefined ? () => {} : this.#begin(node, role);
    this.#giveRoles(node);
    if (node.type !== 'IfStatement' || node.alternate !== null) return close;
    return () => {
      // Behind the branch's own end, which is the end of the whole.
      this.#insert(node.end, `else{${this.#count()}}`);
      close();
    };
  }

  #begin(node: Node, role: Role): () => void {
    const counter = role === 'loop' ? this.#countLoop() : this.#count();
    if (node.type === 'BlockStatement') {
      this.#insert(node.start + 1, `${counter};`);
      return () => {};
    }
    if (role === 'case') {
      this.#insert(node.start, `${counter};`);
      return () => {};
    }
    const [before, after] = role === 'value' ? [`(${counter},`, ')'] : [`{${counter};`, '}'];
    this.#insert(node.start, before);
    return () => this.#insert(node.end, after);
  }

  readonly #roles = new Map<Node, Role>();

  #giveRoles(node: Node): void {
    const give = (child: Node | null | undefined, role: Role) => {
      if (child !== null && child !== undefined) this.#roles.set(child, role);
    };
    switch (node.type) {
      case 'FunctionDeclaration':
      case 'FunctionExpression':
        if (node.body !== null) this.#insert(node.body.start + 1, `${this.#count()};`);
        break;
      case 'ArrowFunctionExpression':
        if (node.body.type === 'BlockStatement') this.#insert(node.body.start + 1, `${this.#count()};`);
        else give(node.body, 'value');
        break;
      case 'IfStatement':
        give(node.consequent, 'branch');
        give(node.alternate, 'branch');
        break;
      case 'ConditionalExpression':
        give(node.consequent, 'value');
        give(node.alternate, 'value');
        break;
      case 'LogicalExpression':
        give(node.right, 'value');
        break;
      case 'SwitchCase':
        give(node.consequent[0], 'case');
        break;
      case 'ForStatement':
      case 'ForInStatement':
      case 'ForOfStatement':
      case 'WhileStatement':
      case 'DoWhileStatement':
        give(node.body, 'loop');
        break;
      case 'CatchClause':
        give(node.body, 'branch');
        break;
      case 'Literal':
        if (typeof node.value === 'string' || typeof node.value === 'number') this.literals.add(node.value);
        break;
    }
  }

  #count(): string {
    return `__hb(${this.#first + this.blocks++})`;
  }

  #countLoop(): string {
    return `__hl(${this.#first + this.blocks++})`;
  }

  #insert(at: number, text: string): void {
    this.#inserts.push({ at, text });
  }
}

type Role = 'branch' | 'loop' | 'value' | 'case';

/** Nodes of TypeScript that have values inside. */
const VALUES: ReadonlySet<string> = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSInstantiationExpression',
]);

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node)
    .flat()
    .filter((each: unknown): each is Node => typeof each === 'object' && each !== null && 'type' in each);
}

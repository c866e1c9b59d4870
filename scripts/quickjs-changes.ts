/**
 * What is changed in the engine's source before it is compiled: three things that keep a process from writing to the
 * image of the started engine. Every page that is written to is copied first, which costs the process more than what
 * it does with most of them (`packages/standalone/native/frozen.h`).
 */

interface Change {
  readonly from: string;
  readonly to: string;
}

const CHANGES: readonly Change[] = [
  {
    // Counting references is what the engine writes most, to everything that it so much as looks at.
    from: '#define JS_REF_COUNT(p) (js_rc(p)->ref_count)\n',
    to: '#define JS_REF_COUNT(p) (*(host_is_frozen(p) ? &host_frozen_references : &js_rc(p)->ref_count))\n',
  },
  {
    // What is no longer used of the image stays as it is.
    from: 'static void js_arena_free(JSRuntime *rt, void *ptr)\n{\n    JSMallocBlockHeader *b;\n\n    if (!ptr)\n',
    to: 'static void js_arena_free(JSRuntime *rt, void *ptr)\n{\n    JSMallocBlockHeader *b;\n\n    if (!ptr || host_is_frozen(ptr))\n',
  },
];

/** Has new things put into memory of their own, not into the gaps that are left in the image. */
const ADDITION = `
void js_leave_arenas(JSRuntime *rt) { js_arena_init(rt); }
`;

/** The source of `quickjs.c` as it is compiled. */
export function changedEngine(source: string): string {
  const changed = CHANGES.reduce((text, { from, to }) => {
    if (text.split(from).length !== 2)
      throw new Error(`quickjs.c is another than was meant: it does not say once: ${from}`);
    return text.replace(from, () => to);
  }, source);
  return changed + ADDITION;
}

/**
 * The engine makes a function of its library when somebody first asks for it. Here everything is asked for while the
 * program is built, so that no process has to make what all of them use.
 */
export function settle(): void {
  const seen = new Set<unknown>();
  const visit = (value: unknown): void => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
      return;
    seen.add(value);
    visit(Object.getPrototypeOf(value));
    for (const key of Reflect.ownKeys(value)) {
      const { value: member, get, set } = Object.getOwnPropertyDescriptor(value, key) ?? {};
      for (const each of [member, get, set]) visit(each);
    }
  };
  visit(globalThis);
  for (const hidden of HIDDEN) visit(hidden);
}

/** What no global leads to. */
const HIDDEN: readonly unknown[] = [
  [][Symbol.iterator](),
  new Map()[Symbol.iterator](),
  new Set()[Symbol.iterator](),
  ''[Symbol.iterator](),
  ''.matchAll(/x/g),
  (function* () {})(),
  (async function* () {})(),
  async () => {},
];

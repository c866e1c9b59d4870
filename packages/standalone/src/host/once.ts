/**
 * Stands for `packages/wire/src/once.ts`: what codecs work out of their declarations is worked out while the program is
 * built, as soon as all modules are loaded.
 */
export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  const get = (): T => (made ??= make());
  void Promise.resolve().then(get);
  return get;
}

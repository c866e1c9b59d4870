/**
 * The result of the first call, for all calls. Codecs work out with it what they need of their declaration when they
 * are first used: a program declares far more formats than it ever meets.
 */
export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

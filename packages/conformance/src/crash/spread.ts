/**
 * Some of many: the first, the last, and others between them at equal distances; for trying some calls where all would take too
 * long.
 */
export function spread<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items;
  const step = (items.length - 1) / Math.max(1, most - 1);
  return items.filter((_, at) => Math.round(Math.round(at / step) * step) === at).slice(0, most);
}

/**
 * The same for the same object: works a value out when it is first asked for. For objects that never change and are
 * remembered from call to call, such as the rules of a table; with them goes what is known of them.
 */
export function perObject<K extends object, V>(workOut: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before.value;
    const value = workOut(key);
    known.set(key, { value });
    return value;
  };
}

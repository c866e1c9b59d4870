/** Objects that are made when they are first needed. */

/** What can be made late: all that it has is methods whose answer is waited for anyway. */
type Asynchronous<T> = { readonly [K in keyof T]: (...values: never[]) => Promise<unknown> };

/**
 * Stands for an object that is made by the first call of one of its methods. The code that it consists of can then
 * be loaded as late, which most sessions of a plugin never do.
 *
 * @param make called once
 */
export function deferred<T extends Asynchronous<T>>(make: () => Promise<T>): T {
  let made: Promise<T> | undefined;
  let ready: T | undefined;
  return new Proxy({} as T, {
    get(_, name) {
      // Whatever is awaited is asked whether it is a promise.
      if (name === 'then') return undefined;
      if (ready !== undefined) {
        const object = ready;
        return (...values: never[]) => object[name as keyof T](...values);
      }
      return async (...values: never[]) => {
        made ??= make();
        ready = await made;
        return await ready[name as keyof T](...values);
      };
    },
  });
}

/** A member's own JSON gateway, called by a program where the member can be reached, as an operator would call etcdctl. */

/**
 * The command that calls a method, and prints what it answers; it fails with what etcd says when that refuses.
 *
 * @param endpoint of a member, as a URL
 * @param path of the method, such as `kv/range`
 */
export function gatewayCommand(endpoint: string, path: string, body: object): readonly [string, ...string[]] {
  return [process.execPath, '-e', CALL, `${endpoint}/v3/${path}`, JSON.stringify(body)];
}

/** A key or a value as the gateway has them. */
export const base64 = (text: string): string => Buffer.from(text).toString('base64');

const CALL = `
fetch(process.argv[1], { method: 'POST', body: process.argv[2] })
  .then(async (answer) => { const text = await answer.text(); if (!answer.ok) throw new Error(text); console.log(text); })
  .catch((error) => { console.error(error.message); process.exitCode = 1; });
`;

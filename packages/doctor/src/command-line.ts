/** Command lines that an operator copies from a finding into a shell. */

/**
 * One command. Names of links, files and networks are other people's: whatever a shell would take for more than a word is
 * quoted.
 *
 * @example commandLine('ip', 'link', 'set', 'veth1', 'up')  // ip link set veth1 up
 * @example commandLine('rm', '/etc/cni/net.d/a b')          // rm '/etc/cni/net.d/a b'
 */
export function commandLine(...words: readonly (string | number)[]): string {
  return words.map((word) => quoted(String(word))).join(' ');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Where the operator is to write something into a network. */
import type { NodeView } from '../node/view.ts';

/**
 * The object of a network's configuration that an interface's settings belong into, in words.
 *
 * @example whereToWrite(view, 'podnet')  // plugin bridge of network podnet, /etc/cni/net.d/10-podnet.conflist
 */
export function whereToWrite({ networks }: NodeView, network: string): string {
  const found = networks.networks.find(({ list }) => list.name === network);
  const main = found?.list.plugins[0];
  if (found === undefined || main === undefined) return `network ${network}`;
  const object = main.type === 'flannel' ? '"delegate" of the plugin flannel' : `the plugin ${main.type}`;
  return `${object} of network ${network}, ${found.path}`;
}

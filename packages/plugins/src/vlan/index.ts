/** The plugin `vlan`: gives the container an interface in a VLAN of a link of the host. */
import { stackedPlugin } from '../stacked/index.ts';
import { vlanConfig } from './config.ts';
import { vlanKind } from './kind.ts';

/** The plugin; see the comment of this module. */
export const vlan = stackedPlugin(vlanKind, {
  about: 'an interface in a VLAN of a link of the host',
  config: vlanConfig,
});

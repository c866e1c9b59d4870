/**
 * The plugin `macvlan`: gives the container an interface with a hardware address of its own on a link of the
 * host. The host itself cannot be reached over it.
 */
import { stackedPlugin } from '../stacked/index.ts';
import { macvlanConfig } from './config.ts';
import { macvlanKind } from './kind.ts';

/** The plugin; see the comment of this module. */
export const macvlan = stackedPlugin(macvlanKind, {
  about: 'an interface with a hardware address of its own on a link of the host',
  config: macvlanConfig,
  capabilities: ['mac'],
  argKeys: ['MAC'],
});

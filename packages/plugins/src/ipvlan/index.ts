/**
 * The plugin `ipvlan`: gives the container an interface on a link of the host that shares its hardware address
 * and is told apart by its IP addresses.
 */
import { stackedPlugin } from '../stacked/index.ts';
import { ipvlanConfig } from './config.ts';
import { ipvlanKind } from './kind.ts';

/** The plugin; see the comment of this module. */
export const ipvlan = stackedPlugin(ipvlanKind, {
  about: 'an interface that shares the hardware address of a link of the host',
  config: ipvlanConfig,
});

/** What Flannel makes of a node's network, for whoever takes the node over. */
import { decodeConfig, type JsonObject } from '@heddle/cni';
import { flannelConfig, USUAL_PLACES } from './config.ts';
import { delegateConfig } from './delegate-config.ts';
import { readSubnetEnv, type SubnetEnv } from './subnet-env.ts';

/** A network as it is on a node of Flannel's. */
export interface FlannelNetwork {
  /** Where the daemon tells of the node's subnet. */
  readonly subnetFile: string;
  readonly env: SubnetEnv;
  /** What the delegate is told: the configuration of a plugin such as bridge. */
  readonly delegate: JsonObject;
}

/**
 * Reads what the daemon told this node.
 *
 * @param raw the plugin's object in the network's configuration
 * @throws {UnavailableError} code 11 while the daemon has told nothing
 * @throws {CniError} when the configuration, or what the daemon wrote, is not valid
 * @example flannelNetwork('cbr0', { type: 'flannel' }).delegate['type'] // 'bridge'
 */
export function flannelNetwork(network: string, raw: JsonObject): FlannelNetwork {
  const config = decodeConfig(flannelConfig, raw);
  const subnetFile = config.subnetFile === '' ? USUAL_PLACES.subnetFile : config.subnetFile;
  const env = readSubnetEnv(subnetFile);
  return { subnetFile, env, delegate: delegateConfig({ network, raw, config }, env) };
}

export { allocateAddresses, type BlockAllocation, type BlockRequest } from './allocate.ts';
export type { Block, Held, Released } from './block.ts';
export {
  type Ahead,
  keepAhead,
  neededAddresses,
  neededBlocks,
  type Reserve,
  reserves,
} from './cluster-pool.ts';
export { putPool, putSettings, removePool } from './configure.ts';
export { PoolsExhaustedError, type PoolsUse } from './exhausted.ts';
export { type ReleaseOptions, releaseHandle } from './give-back.ts';
export { findHandle, listHandles } from './handles.ts';
export { type BlockUse, type Inspection, inspectStore, type PoolUse } from './inspect.ts';
export { LeakWatch } from './leaks.ts';
export { type Cluster, type Member, readCluster, type Stored } from './member.ts';
export { NodeBlocks } from './node-blocks.ts';
export {
  addressesPerBlock,
  BLOCK_SIZES,
  blocksOf,
  checkPools,
  type Encapsulation,
  type Overlay,
  type Pool,
  type PoolConfig,
  resolvePool,
  type Surroundings,
} from './pool.ts';
export { type ReleaseIdleOptions, releaseIdleBlocks, removeNode } from './reclaim.ts';
export {
  type Affinity,
  type AffinityState,
  affinityCodec,
  blockCodec,
  type HandleAddress,
  type HandleRecord,
  handleCodec,
  IPAM_MODES,
  type IpamMode,
  type IpamSettings,
  KEYS,
  MOST_AHEAD,
  poolCodec,
} from './records.ts';
export { type Repair, repairStore } from './repair.ts';
export { type Retaken, type RetakeRequest, retakeAddresses } from './retake.ts';
export { type Labels, parseSelector, type Selector } from './selector.ts';
export { blocksWithin, claimSubnets } from './subnets.ts';

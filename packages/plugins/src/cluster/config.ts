/** What configurations say of addresses of the cluster, and what a call asks for. */
import { absolutePath, bool } from '@heddle/cni';
import type { AddCall } from '@heddle/cni/plugin';
import {
  type AddressRequest,
  type ClusterAddresses,
  clusterClient,
  NODE_SOCKET,
  WAITING_DIRECTORY,
} from '@heddle/ipam/cluster';
import * as v from 'valibot';
import { requestedAddresses, requestedIp } from '../addressing/requested-addresses.ts';

/** The members by which addresses are chosen; in the configuration of `heddle`, and in the `ipam` of others. */
export const addressEntries = {
  families: v.pipe(
    v.optional(v.pipe(v.array(v.picklist([4, 6])), v.maxLength(2))),
    v.description('of which families the container gets an address; of each that the pools have unless set'),
  ),
  pools: v.pipe(
    v.optional(v.array(v.string())),
    v.description('the names of the pools to take addresses from; all that are for the node unless set'),
  ),
  nodeSocket: v.pipe(
    v.optional(absolutePath(), ''),
    v.description('where the agent of the node is asked'),
    v.metadata({ default: NODE_SOCKET }),
  ),
  statusOnExhaustion: v.pipe(
    v.optional(bool, false),
    v.description(
      'whether STATUS fails while the pools have no address left for the node; it takes a longer look',
    ),
  ),
  nodeWaiting: v.pipe(
    v.optional(absolutePath(), ''),
    v.description('the directory of what is to be given back while the agent is away'),
    v.metadata({ default: WAITING_DIRECTORY }),
  ),
};

const wantedAddresses = v.pipe(
  v.optional(v.array(requestedIp)),
  v.description('addresses to give, at most one of a family; a prefix length is ignored'),
);

/** The members by which a runtime, or a pod, wants something particular. */
export const requestEntries = {
  args: v.optional(
    v.object({
      cni: v.optional(
        v.object({
          ips: wantedAddresses,
          pools: v.pipe(
            v.optional(v.array(v.string())),
            v.description('pools instead of the configured ones'),
          ),
        }),
      ),
    }),
  ),
  runtimeConfig: v.optional(v.object({ ips: wantedAddresses })),
};

/** The configuration's choice of addresses. */
export interface AddressChoice {
  readonly families?: readonly (4 | 6)[] | undefined;
  readonly pools?: readonly string[] | undefined;
  readonly nodeSocket: string;
  readonly nodeWaiting: string;
  readonly statusOnExhaustion?: boolean | undefined;
}

/** What was wanted in particular. */
export interface Requested {
  readonly args?:
    | {
        readonly cni?:
          | { readonly ips?: readonly string[] | undefined; readonly pools?: readonly string[] | undefined }
          | undefined;
      }
    | undefined;
  readonly runtimeConfig?: { readonly ips?: readonly string[] | undefined } | undefined;
}

/** Where plugins take addresses from: the agent's own, in the agent, else that of the node's socket. */
export type AddressSource = (choice: AddressChoice) => ClusterAddresses;

/** Asks over the socket. */
export const bySocket: AddressSource = ({ nodeSocket, nodeWaiting }) =>
  clusterClient({
    ...(nodeSocket !== '' && { socket: nodeSocket }),
    ...(nodeWaiting !== '' && { waiting: nodeWaiting }),
  });

/** The keys of CNI_ARGS that say something of addresses, and whom they are for. */
export const ARG_KEYS = ['IP', 'K8S_POD_NAMESPACE', 'K8S_POD_NAME'] as const;

/** What an ADD asks for. @throws {UsageError} when CNI_ARGS have something else than an address */
export function requestOf(
  call: AddCall<unknown>,
  { families, pools }: AddressChoice,
  { args, runtimeConfig }: Requested,
): AddressRequest {
  const addresses = requestedAddresses(call.args['IP'] ?? '', [
    ...(args?.cni?.ips ?? []),
    ...(runtimeConfig?.ips ?? []),
  ]);
  const from = args?.cni?.pools ?? pools;
  const { K8S_POD_NAMESPACE: podNamespace, K8S_POD_NAME: podName } = call.args;
  return {
    ...call.attachment,
    ...(families !== undefined && families.length > 0 && { families }),
    ...(from !== undefined && from.length > 0 && { pools: from }),
    ...(addresses.length > 0 && { addresses }),
    ...(podNamespace && { podNamespace }),
    ...(podName && { podName }),
    sandbox: { path: call.netnsPath, key: call.netns.key },
  };
}

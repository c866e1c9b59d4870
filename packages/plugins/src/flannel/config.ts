/** The configuration of the flannel plugin. */
import { absolutePath, routeSchema } from '@heddle/cni';
import * as v from 'valibot';

/** Where the plugin's files are, unless the configuration says otherwise. */
export const USUAL_PLACES = {
  subnetFile: '/run/flannel/subnet.env',
  dataDir: '/var/lib/cni/flannel',
} as const;

const isSetHere = (name: string) =>
  `'delegate' dictionary must not have '${name}' field, it'll be set by flannel`;

/** The members that the flannel plugin reads. What `delegate` and `ipam` have besides is for the plugins they name. */
export const flannelConfig = v.object({
  subnetFile: v.pipe(
    v.optional(absolutePath(), ''),
    v.description("where Flannel's daemon tells the node's subnet"),
    v.metadata({ default: USUAL_PLACES.subnetFile }),
  ),
  dataDir: v.pipe(
    v.optional(absolutePath(), ''),
    v.description('where the configurations that delegates were given are kept until DEL'),
    v.metadata({ default: USUAL_PLACES.dataDir }),
  ),
  delegate: v.pipe(
    v.optional(
      v.pipe(
        v.looseObject({
          type: v.pipe(
            v.optional(
              v.string("'delegate' dictionary, if present, must have (string) 'type' field"),
              'bridge',
            ),
            v.description('the plugin that makes the interface'),
          ),
        }),
        v.check((delegate) => !Object.hasOwn(delegate, 'name'), isSetHere('name')),
        v.check((delegate) => !Object.hasOwn(delegate, 'ipam'), isSetHere('ipam')),
      ),
      {},
    ),
    v.description(
      "the delegate's own configuration: any of its members but `name` and `ipam`. `ipMasq`, `mtu` and, for bridge, `isGateway` are set unless they are here",
    ),
    v.metadata({ not: { anyOf: [{ required: ['name'] }, { required: ['ipam'] }] } }),
  ),
  ipam: v.pipe(
    v.optional(
      v.looseObject({
        type: v.pipe(
          v.optional(v.string(), 'host-local'),
          v.description('the plugin that gives the addresses'),
        ),
        routes: v.pipe(
          v.optional(v.array(routeSchema), []),
          v.description("routes besides those to the cluster's networks"),
        ),
      }),
      {},
    ),
    v.description(
      "the delegate's address management: any of its members. `ranges` become the node's subnets, `routes` are added to",
    ),
  ),
  runtimeConfig: v.pipe(
    v.optional(v.looseObject({})),
    v.description('handed on to the delegate, whatever it is'),
  ),
});

/** A valid configuration. */
export type FlannelConfig = v.InferOutput<typeof flannelConfig>;

/** What the runtime passes to plugins, and what they are ready to take. */
import { closest } from '@heddle/cni';
import { type AuditRule, networkRule, partRule } from '../audit-rule.ts';
import { KNOWN_PLUGINS } from '../known/known-plugins.ts';
import { SENT_BY } from '../known/sent-capabilities.ts';
import { member, type Network, nameOf, type PluginPart } from '../model/network.ts';
import { RUNTIME_NAMES, RUNTIME_TITLES } from '../model/selection.ts';

const BY_MULTUS: readonly string[] = [
  'mac',
  'ips',
  'infinibandGUID',
  'deviceID',
  'portMappings',
  'bandwidth',
  'CNIDeviceInfoFile',
];

/** Capabilities that the conventions name, or that a known plugin takes. */
const CAPABILITIES: readonly string[] = [
  ...new Set([
    ...RUNTIME_NAMES.flatMap((name) => SENT_BY[name]),
    ...BY_MULTUS,
    ...[...KNOWN_PLUGINS.values()].flatMap(({ capabilities = [] }) => capabilities),
  ]),
];

const unknown = partRule({
  id: 'capability/unknown',
  title: 'A capability that no runtime passes',
  severity: 'warning',
  explains:
    'Names of capabilities are matched in their exact letter case: `portmappings` is not `portMappings`. One that no runtime passes never comes to life.',
  *check({ document, path, capabilities, known }) {
    for (const name of capabilities) {
      if (CAPABILITIES.includes(name) || known?.capabilities?.includes(name) === true) continue;
      const meant = closest(name, CAPABILITIES);
      // A plugin that nobody knows may have a runtime of its own.
      if (meant === undefined && known === undefined) continue;
      yield {
        place: document.keyPlace([...path, 'capabilities', name]),
        what: `no runtime passes "${name}"${meant === undefined ? '' : `; did you mean "${meant}"?`}`,
        consequence: 'The plugin never gets anything for it.',
        remedy: meant === undefined ? 'Remove it.' : `Write "${meant}".`,
      };
    }
  },
});

const notTaken = partRule({
  id: 'capability/not-taken',
  title: 'A capability that the plugin does not have',
  severity: 'warning',
  explains:
    'A plugin gets what it declares, and passes over what it does not understand. `portMappings` on bridge publishes no port: it belongs to portmap.',
  *check({ document, path, capabilities, known, type, ipamType }, network) {
    if (known?.capabilities === undefined || known.role === 'either') return;
    for (const name of capabilities) {
      const byDelegate = ipamType === undefined ? undefined : KNOWN_PLUGINS.get(ipamType);
      if (known.capabilities.includes(name) || !CAPABILITIES.includes(name)) continue;
      if (
        ipamType !== undefined &&
        (byDelegate === undefined || byDelegate.capabilities?.includes(name) === true)
      )
        continue;
      if (known.addresses !== 'delegate') continue;
      const able = network.parts.find((part) => part.known?.capabilities?.includes(name));
      const takers = [...KNOWN_PLUGINS.values()].filter(
        ({ vendor, capabilities: all = [] }) => vendor === 'the reference suite' && all.includes(name),
      );
      yield {
        severity: able?.capabilities.includes(name) === true ? 'note' : 'warning',
        place: document.keyPlace([...path, 'capabilities', name]),
        what: `${type} does not understand ${name}`,
        consequence: `What the runtime passes for it has no effect here.`,
        remedy:
          takers.length === 0
            ? 'Remove it.'
            : `Declare it on ${takers.map((taker) => taker.type).join(' or ')}.`,
      };
    }
  },
});

const undeclared = partRule({
  id: 'capability/not-declared',
  title: 'A plugin that waits for a capability it does not declare',
  severity: 'warning',
  explains:
    'portmap publishes ports, and bandwidth limits rates, that the runtime passes; it passes them only to plugins that declare the capability. Without it, and without values in the file, the plugin does nothing and says nothing: host ports of Pods do not work.',
  *check({ document, path, type, capabilities, raw }, network) {
    const needed = type === undefined ? undefined : WAITING.get(type);
    if (needed === undefined || capabilities.includes(needed.capability)) return;
    if (needed.members.some((name) => member(raw, name) !== undefined)) return;
    // A misspelled one is told of as such.
    if (capabilities.some((name) => closest(name, [needed.capability]) !== undefined)) return;
    const declared = member(raw, 'capabilities')?.[1];
    const isOff = typeof declared === 'object' && declared !== null && needed.capability in declared;
    yield {
      place: isOff
        ? document.place([...path, 'capabilities', needed.capability])
        : document.place([...path, 'type']),
      what: `${type} ${isOff ? 'has switched off' : 'does not declare'} the capability ${needed.capability}`,
      consequence: `${needed.lost} on ${nameOf(network)}, without any message.`,
      remedy: `Add "capabilities": {"${needed.capability}": true} to it.`,
    };
  },
});

interface Waiting {
  readonly capability: string;
  readonly members: readonly string[];
  readonly lost: string;
}

const WAITING: ReadonlyMap<string, Waiting> = new Map(
  Object.entries({
    portmap: { capability: 'portMappings', members: ['runtimeConfig'], lost: 'Host ports are not published' },
    bandwidth: {
      ...{ capability: 'bandwidth', lost: 'The bandwidth annotations of Pods have no effect' },
      members: ['runtimeConfig', 'ingressRate', 'egressRate', 'ingressBurst', 'egressBurst'],
    },
  }),
);

const neverSent = partRule({
  id: 'capability/not-sent-by-runtime',
  title: 'A capability that this runtime does not pass',
  severity: 'note',
  explains:
    'Runtimes pass different things: containerd no `ips`, `mac` or `ipRanges`, Podman no `bandwidth` and no `dns`. Told when the runtime is known (`--against`).',
  *check({ document, path, capabilities }, { startedBy }, { options: { against } }) {
    if (against === undefined || startedBy !== undefined) return;
    for (const name of capabilities) {
      if (SENT_BY[against].includes(name) || !CAPABILITIES.includes(name)) continue;
      yield {
        place: document.keyPlace([...path, 'capabilities', name]),
        what: `${RUNTIME_TITLES[against]} never passes ${name}`,
        consequence: 'The plugin works as if the capability were not declared.',
        remedy: `Nothing, unless you count on it: then set the value in the configuration, or use a runtime that passes it.`,
      };
    }
  },
});

const noPortMapping = networkRule({
  id: 'capability/no-port-mapping',
  title: 'Nobody publishes host ports',
  severity: 'note',
  explains:
    'A `hostPort` of a Pod, or a published port of a container, is the work of a plugin in the chain: portmap, or a network that does it itself. Without one it is dropped without a word.',
  *check(network, { options: { against } }) {
    if (against === undefined && !isClusterLike(network)) return;
    const first = network.parts[0];
    if (first === undefined || network.startedBy !== undefined || !ROUTED.includes(first.type ?? '')) return;
    if (network.parts.some(({ known }) => known === undefined || known.mapsPorts === true)) return;
    if (network.parts.some(({ capabilities }) => capabilities.includes('portMappings'))) return;
    yield {
      place: first.document.place([...first.path, 'type']),
      what: `no plugin of ${nameOf(network)} publishes ports`,
      consequence: 'Host ports of Pods do not work, without any message.',
      remedy:
        'Append {"type": "portmap", "capabilities": {"portMappings": true}}, unless nobody needs host ports.',
    };
  },
});

const ROUTED: readonly string[] = ['bridge', 'ptp', 'flannel', 'calico'];

/** Flannel and Calico make the network of a cluster; bridge and ptp may serve anything. */
function isClusterLike({ parts }: Network): boolean {
  return parts.some(({ known }: PluginPart) => known?.isCluster === true);
}

/** Rules on capabilities, the likeliest first. */
export const CAPABILITY_RULES: readonly AuditRule[] = [
  undeclared,
  unknown,
  notTaken,
  neverSent,
  noPortMapping,
];

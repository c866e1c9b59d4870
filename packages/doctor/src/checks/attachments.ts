/** Each attachment as it is against how ADD left it: from its namespace outwards, without sending anything. */
import { Prefix } from '@heddle/netaddr';
import { commandLine } from '../command-line.ts';
import type { Finding } from '../finding.ts';
import { nameOf, type PodInside, type PodView, promisedAddresses } from '../node/pods.ts';
import type { NodeView } from '../node/view.ts';
import { found } from '../rule.ts';
import { doctorRule, type NodeCheck, some } from './check.ts';
import { addressesBack, commandInside, routesBack } from './put-back.ts';
import { noHostRoute, wayBack } from './way-back.ts';

const netnsGone = doctorRule({
  id: 'attachment/gone',
  severity: 'warning',
  title: 'The runtime remembers attachments whose namespace is gone',
  explains:
    'After a reboot, or when a runtime was killed, nobody has detached these. Their addresses stay held, and their published ports may stay in the rules, until the runtime deletes the container or somebody collects garbage.',
});

const noLink = doctorRule({
  id: 'attachment/no-link',
  severity: 'error',
  title: 'The interface of an attachment is gone',
  explains:
    'The namespace is there, but the interface that ADD made is not in it: something deleted or renamed it.',
});

const linkDown = doctorRule({
  id: 'attachment/link-down',
  severity: 'error',
  title: 'A link of an attachment is down',
  explains:
    "Both ends of a container's veth pair, and the bridge on the node, must be up; a bridge's port must be forwarding. A network manager that takes links for its own, or a spanning tree, takes them down.",
});

const noAddress = doctorRule({
  id: 'attachment/no-address',
  severity: 'error',
  title: 'An attachment has lost its address',
  explains:
    "The addresses of ADD's result must be on the interface, and usable: not those that were found to be somebody else's.",
});

const noRoute = doctorRule({
  id: 'attachment/no-route',
  severity: 'error',
  title: 'A route of an attachment is missing',
  explains:
    "The routes of ADD's result must be in the namespace. Without its default route a container reaches its own network only.",
});

const noHostLink = doctorRule({
  id: 'attachment/detached',
  severity: 'error',
  title: 'The node has lost its end of an attachment',
  explains:
    "The node's end of the pair must be there and, where the network is a bridge, be a port of that bridge.",
});

/** See the file's comment. */
export const attachmentsCheck: NodeCheck = {
  rules: [linkDown, noLink, noHostLink, noAddress, noRoute, noHostRoute, netnsGone],
  async look(view) {
    const findings: Finding[] = [...gone(view)];
    for (const pod of view.pods) {
      if (pod.inside === undefined) continue;
      findings.push(...inside(pod, pod.inside), ...outside(view, pod), ...(await wayBack(view, pod)));
    }
    return findings;
  },
};

function gone({ pods }: NodeView): readonly Finding[] {
  const stale = pods.filter(({ attachment }) => attachment.state === 'stale');
  return [...Map.groupBy(stale, ({ attachment }) => attachment.network)].map(([network, each]) =>
    found(netnsGone, {
      subject: `network ${network}`,
      what: `${each.length === 1 ? 'the namespace of an attachment is' : `the namespaces of ${each.length} attachments are`} gone, and nobody has detached ${each.length === 1 ? 'it' : 'them'}`,
      consequence: 'What they hold (addresses, published ports) is not free for others.',
      remedy:
        'let the runtime remove the containers; where it does not know them any more, free what they hold',
      commands: [commandLine('heddle', 'gc', network, '--keep-live')],
      evidence: [some(each.map(({ attachment }) => nameOf(attachment)))],
    }),
  );
}

function inside(pod: PodView, { link, addresses, routes, path }: PodInside): readonly Finding[] {
  const { attachment, result } = pod;
  const subject = nameOf(attachment);
  const { ifName } = attachment;
  if (ifName === null) return [];
  if (link === undefined) {
    return [
      found(noLink, {
        ...{ subject, what: `there is no ${ifName} in its namespace` },
        consequence: 'The container has no network.',
        remedy: 'start the container anew; find out what removes links there',
        evidence: [path],
      }),
    ];
  }
  const findings: Finding[] = [];
  if (!link.up) {
    findings.push(
      found(linkDown, {
        ...{ subject, what: `${ifName} in the container is down` },
        consequence: 'The container has no network.',
        remedy: 'set it up again; find out what sets it down',
        commands: [commandInside(path, 'ip', 'link', 'set', ifName, 'up')],
      }),
    );
  }
  const lost = promisedAddresses(pod).filter(
    (addr) => !addresses.some(({ prefix }) => prefix.addr.equals(addr)),
  );
  if (lost.length > 0) {
    findings.push(
      found(noAddress, {
        ...{
          subject,
          what: `${lost.join(' and ')} ${lost.length === 1 ? 'is' : 'are'} not on ${ifName} any more`,
        },
        consequence: 'What is sent to the container does not get there.',
        remedy:
          'start the container anew, or put back what ADD had given; find out what changes addresses there',
        commands: addressesBack(pod, lost),
        evidence: [
          addresses.length === 0
            ? `${ifName} has no address`
            : `${ifName} has ${addresses.map(({ prefix }) => prefix).join(', ')}`,
        ],
      }),
    );
  }
  // A link that is down has no routes: one cause is enough.
  const promised = (result?.routes ?? []).filter(({ table }) => table === undefined || table === MAIN);
  const missing = link.up
    ? promised.filter(({ dst }) => {
        const wanted = Prefix.tryParse(dst)?.masked();
        return (
          wanted !== undefined &&
          !routes.some((route) => route.dst.equals(wanted) && route.type === 'unicast')
        );
      })
    : [];
  if (missing.length > 0 && lost.length === 0) {
    findings.push(
      found(noRoute, {
        ...{
          subject,
          what: `the route to ${missing.map(({ dst }) => dst).join(' and ')} is gone from the container`,
        },
        consequence: missing.some(({ dst }) => dst.endsWith('/0'))
          ? 'The container reaches its own network only.'
          : 'The container does not reach these.',
        remedy: 'start the container anew, or put back what ADD had set; find out what changes routes there',
        commands: routesBack(pod, missing),
        evidence: missing.map(({ dst, gw }) => `ADD set ${dst}${gw === undefined ? '' : ` via ${gw}`}`),
      }),
    );
  }
  return findings;
}

function outside(view: NodeView, { attachment, hostLink, result, inside }: PodView): readonly Finding[] {
  const subject = nameOf(attachment);
  const bridge = (result?.interfaces ?? [])
    .filter(({ sandbox = '' }) => sandbox === '')
    .map(({ name }) => view.links.find((link) => link.name === name))
    .find((link) => link?.kind === 'bridge');
  if (hostLink === undefined) {
    const other = (result?.interfaces ?? []).find(
      ({ sandbox = '', name }) => sandbox === '' && name !== bridge?.name,
    );
    if (inside?.link?.kind !== 'veth' || other === undefined) return [];
    return [
      found(noHostLink, {
        ...{ subject, what: `the node's end of the pair (${other.name}) is not there` },
        consequence: 'The container has no network.',
        remedy: 'start the container anew; find out what moves or renames links of the node',
      }),
    ];
  }
  if (bridge !== undefined && hostLink.master !== bridge.index) {
    return [
      found(noHostLink, {
        ...{ subject, what: `${hostLink.name} is not a port of ${bridge.name} any more` },
        consequence: 'The container reaches nobody.',
        remedy: `make it a port of ${bridge.name} again; keep network managers off these links`,
        commands: [commandLine('ip', 'link', 'set', hostLink.name, 'master', bridge.name)],
      }),
    ];
  }
  const master = view.links.find(({ index }) => index === hostLink.master);
  const down = [hostLink, master].find((link) => link !== undefined && !link.up);
  if (down !== undefined) {
    return [
      found(linkDown, {
        ...{ subject, what: `${down.name} on the node is down` },
        consequence: 'The container has no network.',
        remedy: 'set it up again; keep network managers off it',
        commands: [commandLine('ip', 'link', 'set', down.name, 'up')],
      }),
    ];
  }
  const state = hostLink.port?.state;
  if (inside?.link?.up !== true || state === undefined || state === 'forwarding') return [];
  return [
    found(linkDown, {
      severity: state === 'blocking' || state === 'disabled' ? 'error' : 'warning',
      ...{ subject, what: `${hostLink.name} is a port that does not forward (${state})` },
      consequence: 'The bridge passes nothing on from the container or to it.',
      remedy: `let it forward; turn the spanning tree of ${master?.name ?? 'the bridge'} off unless it is needed`,
      commands: [commandLine('bridge', 'link', 'set', 'dev', hostLink.name, 'state', 3)],
    }),
  ];
}

/** RT_TABLE_MAIN */
const MAIN = 254;

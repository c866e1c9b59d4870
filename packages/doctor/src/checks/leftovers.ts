/** What is on the node and belongs to nobody: of CNIs that are not in use any more, and of containers that are gone. */
import type { Link, NftChain, NftTable } from '@heddle/netlink';
import { commandLine } from '../command-line.ts';
import type { Finding } from '../finding.ts';
import type { NodeView } from '../node/view.ts';
import { found } from '../rule.ts';
import { count, doctorRule, type NodeCheck, some } from './check.ts';
import { CNI_FOOTPRINTS, type Footprint } from './known-plugins.ts';

const other = doctorRule({
  id: 'leftover/cni',
  severity: 'warning',
  title: 'A CNI that is not in use any more has left things behind',
  explains:
    'Links, chains, tables and directories of Flannel, Calico, Cilium, Weave Net, kube-router and Antrea, known by their names, while no configuration of the node mentions them. Their rules go on translating and dropping packets, their routes go on attracting them.',
});

const veth = doctorRule({
  id: 'leftover/veth',
  severity: 'warning',
  title: 'Links of the node lead to no container',
  explains:
    "A veth that is a port of a bridge and whose other end is on the node too, or is down, without address and in no namespace that a runtime knows. Each costs a little of every broadcast. Only such as bear a plugin's kind of name are looked at.",
});

/** See the file's comment. */
export const leftoversCheck: NodeCheck = {
  rules: [other, veth],
  look: async (view) => [...(await ofOthers(view)), ...orphans(view)],
};

async function ofOthers(view: NodeView): Promise<readonly Finding[]> {
  const { files } = view.ports;
  const texts = configTexts(view);
  const chains = await view.ruleset.allChains();
  const tables = await view.ruleset.tables();
  return CNI_FOOTPRINTS.filter(({ words }) => !words.some((word) => texts.includes(word))).flatMap(
    (print): readonly Finding[] => {
      const links = view.links.filter(({ name }) => print.links?.test(name));
      const ownChains = chains.filter(({ name }) => print.chains?.test(name));
      const ownTables = tables.filter(({ family, name }) => print.tables?.test(`${family} ${name}`));
      const paths = (print.paths ?? []).filter((path) => files.facts(path) !== undefined);
      const evidence = [
        ...(links.length > 0 ? [`links: ${some(links.map(({ name }) => name))}`] : []),
        ...(ownTables.length > 0
          ? [`tables: ${some(ownTables.map(({ family, name }) => `${family} ${name}`))}`]
          : []),
        ...(ownChains.length > 0
          ? [`chains: ${some(ownChains.map(({ family, table, name }) => `${family} ${table} ${name}`))}`]
          : []),
        ...(paths.length > 0 ? [`files: ${some(paths)}`] : []),
      ];
      if (evidence.length === 0) return [];
      const inKernel = links.length + ownChains.length + ownTables.length > 0;
      return [
        found(other, {
          severity: inKernel ? 'warning' : 'note',
          subject: print.project,
          what: `${print.project} has left things behind, and no network of this node uses it`,
          consequence: inKernel
            ? 'Its rules still translate or drop packets, and its routes still attract them, beside those of the present CNI.'
            : 'Files only: an installer or a plugin may take them for a sign that it is in use.',
          ...remedyFor(print, { links, ownTables, ownChains, paths }),
          evidence,
        }),
      ];
    },
  );
}

function configTexts({ networks, ports: { files, places } }: NodeView): string {
  const read = [...networks.networks, ...networks.broken].map(
    ({ path }) => `${path}\n${files.read(path) ?? ''}`,
  );
  return [...read, ...files.list(places.configDir)].join('\n').toLowerCase();
}

interface Traces {
  readonly links: readonly Link[];
  readonly ownTables: readonly NftTable[];
  readonly ownChains: readonly NftChain[];
  readonly paths: readonly string[];
}

/** Chains refer to each other, so all are flushed before the first is deleted; what leads to them goes with a restart. */
function remedyFor(
  { project }: Footprint,
  { links, ownTables, ownChains, paths }: Traces,
): Pick<Finding, 'remedy' | 'commands'> {
  const restart = ownChains.length > 0 ? ', then restart the node, which clears its chains and routes' : '';
  return {
    remedy: `if ${project} is really gone, remove what it has left${restart}`,
    commands: [
      ...links.map(({ name }) => commandLine('ip', 'link', 'delete', name)),
      ...ownTables.map(({ family, name }) => commandLine('nft', 'delete', 'table', family, name)),
      ...paths.map((path) => commandLine('rm', '-r', path)),
    ],
  };
}

/** Names that the reference's plugins, Heddle's, Docker and Podman give to the node's end of a pair. */
const PLUGIN_NAME = /^veth[0-9a-f]{6,}$|^hd[0-9a-z]{8,}$/;

function orphans(view: NodeView): readonly Finding[] {
  const known = new Set(view.pods.flatMap(({ hostLink }) => hostLink?.index ?? []));
  const byIndex = new Map(view.links.map((link) => [link.index, link]));
  const lost = view.links.filter((link) => {
    if (link.kind !== 'veth' || known.has(link.index) || !PLUGIN_NAME.test(link.name)) return false;
    // Where the other end is in another namespace, somebody may well use it.
    return (
      link.parentNetnsId === undefined &&
      link.parent !== undefined &&
      byIndex.get(link.parent)?.kind === 'veth'
    );
  });
  const pairs = lost.filter(
    ({ index, parent }) =>
      !lost.some((each) => each.parent === index && each.index < index && parent === each.index),
  );
  if (pairs.length === 0) return [];
  return [
    found(veth, {
      subject: 'links',
      what: `${count(pairs.length, 'pair')} of links ${pairs.length === 1 ? 'has' : 'have'} both ends on the node, and no container`,
      consequence: 'They take part in every broadcast of their bridge, and their names may be in the way.',
      remedy: `delete ${pairs.length === 1 ? 'it' : 'them'}`,
      commands: pairs.map(({ name }) => commandLine('ip', 'link', 'delete', name)),
      evidence: [some(pairs.map(({ name }) => name))],
    }),
  ];
}

/** Which file of a directory counts. */
import { type AuditRule, type Subject, subjectRule } from '../audit-rule.ts';
import type { AuditedFile } from '../model/file.ts';
import { type Network, networksOf } from '../model/network.ts';
import { type AuditedDirectory, isLoadable, RUNTIME_TITLES, selectFor } from '../model/selection.ts';

const duplicateName = subjectRule({
  id: 'selection/duplicate-name',
  title: 'Two files with one network name',
  severity: 'error',
  explains:
    'Reservations, the result cache and port mappings are kept under the name of the network, so two files with one name work on the same state. Which one is in force depends on the runtime; attachments that one made are torn down by the other.',
  *check(subject) {
    for (const group of byDirectory(subject)) {
      for (const [name, networks] of Map.groupBy(group, (network) => network.name)) {
        const [first, ...others] = networks;
        if (name === undefined || name === '' || first === undefined) continue;
        for (const network of others) {
          yield {
            place: network.document.place(['name']),
            subject: `network ${name}`,
            what: `${first.file.path} has the network name "${name}", too`,
            consequence: `${first.file.name} sorts first and is in force for ${inForce(first)}; both share addresses and cache.`,
            remedy: `Remove the one that is left over, ${first.file.path} or ${network.file.path}; if both are needed, give each a "name" of its own.`,
          };
        }
      }
    }
  },
});

const twoClusters = subjectRule({
  id: 'selection/two-cluster-networks',
  title: 'The files of two cluster networks',
  severity: 'warning',
  explains:
    'A node has one network for Pods: that of the first file by name. A leftover of an earlier network with a lower number wins silently over the present one, and after an update that removes it all new Pods land in another network than the old ones.',
  *check({ directories }) {
    for (const directory of directories) {
      const { chosen } = selectFor('crio', directory);
      const clusters = directory.files.flatMap((file) => {
        const vendor = isLoadable(file) ? vendorOf(file) : undefined;
        return vendor === undefined ? [] : [{ file, vendor }];
      });
      const winner = clusters.find(({ file }) => file === chosen);
      // Multus keeps the file of the network that it starts beside its own.
      if (winner === undefined || winner.vendor === 'Multus') continue;
      for (const { file, vendor } of clusters) {
        if (vendor === winner.vendor) continue;
        yield {
          place: { file: file.path },
          what: `this is the network of ${vendor}, and ${winner.file.name} is that of ${winner.vendor}`,
          consequence: `containerd and CRI-O attach Pods to ${winner.file.name}, for it sorts first; ${file.name} has no effect.`,
          remedy: `Remove the one that is left over. If ${vendor} is the network of this cluster, remove ${winner.file.path}.`,
        };
      }
    }
  },
});

const losers = subjectRule({
  id: 'selection/which-file',
  title: 'Several networks, one of which Pods get',
  severity: 'note',
  explains:
    'containerd takes the first file by name, whatever its extension, and stops at the first that it cannot read. CRI-O takes the first that is valid, or the one named in `cni_default_network`. The kubelet itself reads no files: it asks one of the two. Podman reads only `*.conflist`, all of them, and takes networks by name.',
  *check(subject) {
    for (const directory of subject.directories) yield* selectionNotes(directory, subject);
  },
});

function* selectionNotes(directory: AuditedDirectory, { options: { against } }: Subject) {
  const containerd = selectFor('containerd', directory);
  const crio = selectFor('crio', directory);
  const podman = directory.files.filter((file) => file.role === 'list' && isLoadable(file));
  const loadable = directory.files.filter(isLoadable);
  const names = loadable.map(({ name }) => name);
  if (loadable.length < 2) return;
  const lines = [
    ...(against === undefined || against === 'containerd'
      ? [`containerd: ${containerd.chosen?.name ?? `none, it stops at ${containerd.stoppedBy?.name}`}`]
      : []),
    ...(against === undefined || against === 'crio' ? [`CRI-O: ${crio.chosen?.name ?? 'none'}`] : []),
    ...(against === undefined || against === 'podman'
      ? [`Podman: by name, of ${podman.length === 0 ? 'none' : podman.map(({ name }) => name).join(', ')}`]
      : []),
  ];
  const passedOver = names.filter((name) => name !== crio.chosen?.name);
  yield {
    place: { file: directory.path },
    what: `there are ${loadable.length} networks, and Pods get the first by file name: ${crio.chosen?.name ?? 'none'}`,
    consequence: `Pods are not attached to ${some(passedOver)}.`,
    remedy: 'Nothing, if that is what you want; else let the file of the wanted network sort first.',
    evidence: lines,
  };
}

const unseenByPodman = subjectRule({
  id: 'selection/unseen-by-podman',
  title: 'A file that Podman does not look at',
  severity: 'warning',
  explains: 'Podman reads only `*.conflist`. Told with `--against podman`.',
  *check({ directories, options: { against } }) {
    if (against !== 'podman') return;
    for (const file of directories.flatMap(({ files }) => files)) {
      if (file.role !== 'single' || !isLoadable(file)) continue;
      yield {
        place: { file: file.path },
        what: `${RUNTIME_TITLES.podman} reads only files that end in .conflist`,
        consequence: 'The network does not exist for it.',
        remedy: 'Make a list of it, in a file that ends in .conflist.',
      };
    }
  },
});

const nothingChosen = subjectRule({
  id: 'selection/no-network',
  title: 'A directory without any usable network',
  severity: 'error',
  explains:
    'There is no configuration, or none that a runtime can use. The node stays NotReady ("cni plugin not initialized"), and Pods in ContainerCreating.',
  *check({ directories }) {
    for (const directory of directories) {
      const configs = directory.files.filter(({ role }) => role !== 'other');
      if (directory.unreadable !== undefined || configs.some(isLoadable)) continue;
      yield {
        ...(configs.length === 0 && { severity: 'warning' as const }),
        place: { file: directory.path },
        what:
          configs.length === 0
            ? 'there is no configuration in the directory'
            : 'no file of the directory has a network that can be used',
        consequence: 'The node stays NotReady: "cni plugin not initialized".',
        remedy:
          configs.length === 0
            ? 'Install a network, or its agent that writes one.'
            : 'Mend the files; what is wrong with each is told beside.',
      };
    }
  },
});

/** Rules on the choice of files, the likeliest first. */
export const SELECTION_RULES: readonly AuditRule[] = [
  twoClusters,
  duplicateName,
  nothingChosen,
  unseenByPodman,
  losers,
];

/** The networks of each directory; files that are named one by one are looked at together. */
function byDirectory({ directories, networks }: Subject): readonly (readonly Network[])[] {
  const tops = networks.filter(({ startedBy }) => startedBy === undefined);
  const listed = new Set(directories.flatMap(({ files }) => files));
  return [
    ...directories.map(({ files }) => tops.filter(({ file }) => files.includes(file))),
    tops.filter(({ file }) => !listed.has(file)),
  ];
}

/** Lists are looked at before single plugins by who looks for a name; by file name by who takes the first. */
function inForce({ isList }: Network): string {
  return isList
    ? 'all runtimes'
    : 'runtimes that take the first file; one that asks for the name prefers a list';
}

function vendorOf(file: AuditedFile): string | undefined {
  const [network] = networksOf(file);
  return network?.parts.find(({ known }) => known?.isCluster === true)?.known?.vendor;
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

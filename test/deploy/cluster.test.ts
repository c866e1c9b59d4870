/**
 * What `deploy/cluster` has can be used as it is: the manifest is one to Kubernetes' own types, the image finds the files that
 * it copies, the entry point is a program of the shell.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { buildCommand } from '../../scripts/build-command.ts';
import { buildShim } from '../../scripts/build-shim.ts';
import { buildStandalone } from '../../scripts/build-standalone.ts';
import { missing } from '../support/programs.ts';

const MANIFEST = 'deploy/cluster/daemonset.yaml';
const withoutKubectl = missing('kubectl') === false ? false : 'kubectl is not on this machine';

interface DaemonSet {
  readonly kind: string;
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly hostNetwork: boolean;
        readonly hostPID: boolean;
        readonly tolerations: readonly object[];
        readonly containers: readonly { readonly volumeMounts: readonly { mountPropagation: string }[] }[];
      };
    };
  };
}

function kubectl(...args: readonly string[]): readonly unknown[] {
  const { stdout, stderr } = spawnSync('kubectl', args, { encoding: 'utf8' });
  // Documents that have no containers are told of, and passed over.
  assert.deepEqual(
    stderr.split('\n').filter((line) => line !== '' && !/does not have a pod template/.test(line)),
    [],
  );
  return stdout.split(/(?<=^\})\n(?=\{)/m).map((document) => JSON.parse(document));
}

/** Members of a value that another one has not, or has otherwise. */
function lost(before: unknown, after: unknown, path = ''): readonly string[] {
  if (typeof before !== 'object' || before === null) return before === after ? [] : [path];
  return Object.entries(before).flatMap(([name, value]) =>
    lost(value, (after as Record<string, unknown> | undefined)?.[name], `${path}/${name}`),
  );
}

test('the manifest has what it means to have, in the types of Kubernetes', { skip: withoutKubectl }, () => {
  // This command takes documents as they are, the other one through the types of its API, where what is unknown gets lost.
  const written = kubectl(
    'label',
    '--local',
    '-f',
    MANIFEST,
    '-o',
    'json',
    'checked=here',
  ) as readonly DaemonSet[];
  assert.deepEqual(
    written.map(({ kind }) => kind),
    ['Namespace', 'ConfigMap', 'DaemonSet'],
  );
  const daemonSet = written[2] as DaemonSet & { metadata: { labels: Record<string, string> } };
  delete daemonSet.metadata.labels['checked'];
  const [typed] = kubectl('set', 'image', '--local', '-f', MANIFEST, '-o', 'json', 'agent=other:1');
  assert.deepEqual(lost(daemonSet, typed), ['/spec/template/spec/containers/0/image']);
  const { hostNetwork, hostPID, tolerations, containers } = daemonSet.spec.template.spec;
  assert.deepEqual([hostNetwork, hostPID, tolerations], [true, true, [{ operator: 'Exists' }]]);
  assert.equal(containers[0]?.volumeMounts[0]?.mountPropagation, 'HostToContainer');
});

test('the image copies files that a build has made', () => {
  buildCommand();
  buildStandalone();
  buildShim();
  const copied = [...readFileSync('deploy/cluster/Dockerfile', 'utf8').matchAll(/^COPY (.+) \S+$/gm)].flatMap(
    ([, sources = '']) => sources.split(' '),
  );
  assert.ok(copied.includes('deploy/cluster/entrypoint.sh'));
  assert.deepEqual(
    copied.filter((path) => !existsSync(path)),
    [],
  );
});

test('the entry point is a program that the shell understands', () => {
  const file = 'deploy/cluster/entrypoint.sh';
  assert.equal(statSync(file).mode & 0o111, 0o111);
  assert.deepEqual(spawnSync('sh', ['-n', file], { encoding: 'utf8' }).stderr, '');
});

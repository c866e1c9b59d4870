import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Content, type InstallSituation, planInstall, planUninstall } from './plan.ts';
import type { Present } from './present.ts';
import { claiming, EMPTY_RECORD, formatRecord, parseRecord } from './record.ts';

const content = (sha256: string, mode = 0o755): Content => ({ text: sha256, sha256, mode });
const DIR = '/opt/cni/bin';
const NET = '/etc/cni/net.d/10-heddle.conflist';

function situation(
  found: Readonly<Record<string, Present>> = {},
  more: Partial<InstallSituation> = {},
): InstallSituation {
  return {
    version: '2',
    directory: DIR,
    program: content('program-2'),
    client: undefined,
    types: ['bridge', 'loopback'],
    record: EMPTY_RECORD,
    present: (path) => found[path] ?? { kind: 'nothing' },
    network: { path: NET, content: content('network', 0o644), others: [] },
    command: undefined,
    ...more,
  };
}

const installed = claiming(
  claiming(claiming(EMPTY_RECORD, `${DIR}/heddle-cni`, 'program-1'), `${DIR}/heddle_sys.node`, 'addon-1'),
  NET,
  'network',
);
const OWN_LINK: Present = { kind: 'link', target: 'heddle-cni' };
const OLD: Readonly<Record<string, Present>> = {
  [`${DIR}/heddle-cni`]: { kind: 'file', sha256: 'program-1' },
  [`${DIR}/heddle_sys.node`]: { kind: 'file', sha256: 'addon-1' },
  [`${DIR}/bridge`]: OWN_LINK,
  [`${DIR}/loopback`]: OWN_LINK,
  [`${DIR}/.heddle-install.json`]: { kind: 'file', sha256: 'record' },
  [NET]: { kind: 'file', sha256: 'network' },
};

function stepsOf(plan: ReturnType<typeof planInstall>): readonly string[] {
  return plan.steps.map((step) => `${step.do} ${step.path.replace(`${DIR}/`, '')}`);
}

describe('the plan of an installation', () => {
  test('claims first, brings what others need before them, and the network last', () => {
    assert.deepEqual(stepsOf(planInstall(situation())), [
      'record .heddle-install.json',
      'create heddle-cni',
      'link bridge',
      'link loopback',
      `create ${NET}`,
    ]);
  });

  test("leads the links to the agent's client, and back", () => {
    const client = content('client');
    const withClient = { ...OLD, [`${DIR}/heddle-shim`]: { kind: 'file', sha256: 'client' } } as const;
    const there = situation(OLD, { record: installed, client });
    assert.deepEqual(stepsOf(planInstall(there)).slice(3, 6), [
      'create heddle-shim',
      'link bridge',
      'link loopback',
    ]);
    const leading: Present = { kind: 'link', target: 'heddle-shim' };
    const found: typeof OLD = { ...withClient, [`${DIR}/bridge`]: leading, [`${DIR}/loopback`]: leading };
    const record = claiming(installed, `${DIR}/heddle-shim`, 'client');
    const again = planInstall(situation(found, { record, client }));
    assert.deepEqual(stepsOf(again).slice(3, 6), ['keep heddle-shim', 'keep bridge', 'keep loopback']);
    const back = planInstall(situation(found, { record }));
    assert.deepEqual(stepsOf(back).slice(3, 5), ['link bridge', 'link loopback']);
    const names = ['bridge', 'loopback', 'heddle-cni', 'heddle-shim', 'heddle_sys.node'];
    const gone = planUninstall({
      directory: DIR,
      record,
      names,
      present: (path) => found[path] ?? { kind: 'nothing' },
    });
    assert.deepEqual(
      gone.steps.map(({ path }) => path.replace(`${DIR}/`, '')),
      [
        ...[
          NET,
          'bridge',
          'loopback',
          'heddle-shim',
          'heddle-cni',
          'heddle_sys.node',
          '.heddle-install.json',
        ],
      ],
    );
  });

  test('replaces its own older files, and leaves a network as it is', () => {
    assert.deepEqual(stepsOf(planInstall(situation(OLD, { record: installed }))), [
      'record .heddle-install.json',
      'replace heddle-cni',
      'remove heddle_sys.node',
      'keep bridge',
      'keep loopback',
      `keep ${NET}`,
    ]);
  });

  test('has nothing to do the second time', () => {
    const { [`${DIR}/heddle_sys.node`]: _gone, ...kept } = OLD;
    const found = { ...kept, [`${DIR}/heddle-cni`]: { kind: 'file', sha256: 'program-2' } } as const;
    const record = { ...installed, heddle: '2' };
    const { steps } = planInstall(situation(found, { record }));
    assert.deepEqual(new Set(steps.map((step) => step.do)), new Set(['keep']));
  });

  test('records the version, and the link by which the command is typed', () => {
    const command = { path: '/usr/local/bin/heddle', target: '/src/bin/heddle' };
    const { steps } = planInstall(situation({}, { command }));
    const [claim] = steps;
    assert.ok(claim?.do === 'record');
    assert.equal(claim.record.heddle, '2');
    assert.deepEqual(claim.record.links, { [command.path]: command.target });
    assert.ok(steps.some((step) => step.do === 'link' && step.path === command.path));
  });

  const links: readonly (readonly [what: string, found: Present, expected: string])[] = [
    ['the same link', { kind: 'link', target: '/new' }, 'keep'],
    ['an older one of ours', { kind: 'link', target: '/old' }, 'link'],
    ['a link of somebody else', { kind: 'link', target: '/their' }, 'in the way'],
    ['a program', { kind: 'file', sha256: 'x' }, 'in the way'],
  ];
  for (const [what, found, expected] of links) {
    test(`meets ${what} where the command is to be: ${expected}`, () => {
      const path = '/usr/local/bin/heddle';
      const record = { ...installed, links: { [path]: '/old' } };
      const plan = planInstall(situation({ [path]: found }, { record, command: { path, target: '/new' } }));
      const step = plan.steps.find((each) => each.path === path);
      assert.equal(step?.do ?? (plan.inTheWay.includes(path) && 'in the way'), expected);
    });
  }

  const foreign: readonly (readonly [what: string, name: string, found: Present])[] = [
    ['another program', 'bridge', { kind: 'file', sha256: 'reference' }],
    ['a link to elsewhere', 'bridge', { kind: 'link', target: '/usr/lib/cni/bridge' }],
    ['a directory', 'loopback', { kind: 'other' }],
    ['a program that somebody changed', 'heddle-cni', { kind: 'file', sha256: 'changed' }],
    ['a link in place of the program', 'heddle-cni', { kind: 'link', target: 'elsewhere' }],
  ];
  for (const [what, name, found] of foreign) {
    test(`does nothing at all when ${what} is in the way`, () => {
      const plan = planInstall(situation({ ...OLD, [`${DIR}/${name}`]: found }, { record: installed }));
      assert.deepEqual(plan, { steps: [], inTheWay: [`${DIR}/${name}`] });
    });
  }

  test('writes no network where there is one, or when none is wanted', () => {
    const network = { path: NET, content: content('network'), others: ['87-podman.conflist'] };
    const last = planInstall(situation({}, { network })).steps.at(-1);
    assert.deepEqual(last, {
      do: 'skip',
      path: NET,
      why: 'there are networks already (87-podman.conflist)',
    });
    assert.ok(!stepsOf(planInstall(situation({}, { network: undefined }))).includes(`create ${NET}`));
  });

  test('goes on where one was cut short', () => {
    const [claim] = planInstall(situation(OLD, { record: installed })).steps;
    assert.ok(claim?.do === 'record');
    const half = { ...OLD, [`${DIR}/heddle-cni`]: { kind: 'file', sha256: 'program-2' } } as const;
    assert.deepEqual(planInstall(situation(half, { record: claim.record })).inTheWay, []);
    assert.deepEqual(
      planInstall(situation(half, { record: claim.record, program: content('program-3') })).inTheWay,
      [],
    );
  });
});

describe('the plan of a removal', () => {
  const names = ['.heddle-install.json', 'bridge', 'dhcp', 'heddle-cni', 'heddle_sys.node', 'loopback'];

  test('takes the network first and the program last', () => {
    const present = (path: string): Present => OLD[path] ?? { kind: 'file', sha256: 'other' };
    assert.deepEqual(stepsOf(planUninstall({ directory: DIR, record: installed, present, names })), [
      `remove ${NET}`,
      'remove bridge',
      'remove loopback',
      'remove heddle-cni',
      'remove heddle_sys.node',
      'remove .heddle-install.json',
    ]);
  });

  test('takes the link of the command, unless it leads elsewhere by now', () => {
    const path = '/usr/local/bin/heddle';
    const record = { ...installed, links: { [path]: '/src/bin/heddle' } };
    const planFor = (target: string) => {
      const present = (each: string): Present =>
        each === path ? { kind: 'link', target } : { kind: 'nothing' };
      return planUninstall({ directory: DIR, record, present, names });
    };
    assert.deepEqual(stepsOf(planFor('/src/bin/heddle')), [`remove ${path}`]);
    assert.deepEqual(planFor('/elsewhere').inTheWay, [path]);
  });

  test('leaves what was changed, and says so', () => {
    const changed = { ...OLD, [NET]: { kind: 'file', sha256: 'edited' } } as const;
    const present = (path: string): Present => changed[path as keyof typeof changed] ?? { kind: 'nothing' };
    const plan = planUninstall({ directory: DIR, record: installed, present, names });
    assert.deepEqual(plan.inTheWay, [NET]);
    assert.equal(plan.steps[0]?.do, 'keep');
    assert.ok(stepsOf(plan).includes('remove heddle-cni'));
  });

  test('does not take a program that it has no record of', () => {
    const present = (path: string): Present => OLD[path] ?? { kind: 'nothing' };
    const plan = planUninstall({ directory: DIR, record: EMPTY_RECORD, present, names });
    assert.deepEqual(plan.inTheWay, [`${DIR}/heddle-cni`, `${DIR}/heddle_sys.node`]);
  });

  test('is empty where nothing is installed', () => {
    const present = (): Present => ({ kind: 'nothing' });
    assert.deepEqual(planUninstall({ directory: DIR, record: EMPTY_RECORD, present, names: [] }), {
      steps: [],
      inTheWay: [],
    });
  });
});

test('a record comes back as it was written, and a foreign text is none', () => {
  assert.deepEqual(parseRecord(formatRecord(installed), 'f'), installed);
  assert.deepEqual(parseRecord('{"files":{"a":"b"}}', 'f'), { heddle: '', files: { a: [] }, links: {} });
  assert.throws(() => parseRecord('{', '/x/record'), /\/x\/record/);
});

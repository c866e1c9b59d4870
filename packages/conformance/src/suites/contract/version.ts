import { CNI_VERSIONS, compareVersions, isCniVersion } from '@heddle/cni';
import { type Check, spec } from '../../check.ts';
import { must } from '../../failure.ts';
import { jsonOf, mustSucceed } from '../../lab/lab.ts';
import { refusal, refusalWith } from '../errors.ts';
import { shapeProblems } from '../result-shape.ts';

/** VERSION, and which versions are spoken. */
export const VERSION_CHECKS: readonly Check[] = [
  {
    id: 'contract/version-answer',
    title: 'VERSION prints a JSON object with cniVersion and supportedVersions',
    cites: spec('Section 5, VERSION Success', 'Plugins must output a JSON object with the following keys'),
    why: 'Runtimes ask it to find out whether a network can work at all.',
    async run(lab) {
      const call = mustSucceed(await lab.call('VERSION', undefined, { stdin: '{"cniVersion":"1.1.0"}' }));
      const { cniVersion, supportedVersions } = jsonOf(call);
      must(typeof cniVersion === 'string', 'a string cniVersion', `${JSON.stringify(cniVersion)}`, call);
      const isList = Array.isArray(supportedVersions) && supportedVersions.length > 0;
      must(
        isList,
        'a list supportedVersions that is not empty',
        `${JSON.stringify(supportedVersions)}`,
        call,
      );
      const strange = supportedVersions.find(
        (each) => typeof each !== 'string' || !/^\d+\.\d+\.\d+$/.test(each),
      );
      must(strange === undefined, 'versions of the form 1.0.0', `${JSON.stringify(strange)}`, call);
      must(
        supportedVersions.some((each) => isCniVersion(String(each))),
        'a version of the specification',
        `${supportedVersions}`,
        call,
      );
    },
  },
  {
    id: 'contract/version-echo',
    title: 'VERSION answers with the cniVersion that it was asked with',
    cites: spec('Section 5, VERSION Success', 'The value of `cniVersion` specified on input'),
    why: 'The asker reads the answer in the version that it speaks.',
    async run(lab) {
      const spoken = lab.subject.versions.filter(isCniVersion);
      for (const cniVersion of new Set([lab.subject.version, spoken[0] ?? lab.subject.version])) {
        const stdin = JSON.stringify({ cniVersion });
        const call = mustSucceed(await lab.call('VERSION', undefined, { stdin }));
        const said = jsonOf(call)['cniVersion'];
        must(
          said === cniVersion,
          `cniVersion "${cniVersion}", as asked with`,
          `${JSON.stringify(said)}`,
          call,
        );
      }
    },
  },
  {
    id: 'contract/version-alone',
    title: 'VERSION needs no variable but CNI_COMMAND',
    cites: spec('Section 2, VERSION', 'Required environment parameters: - `CNI_COMMAND`'),
    why: 'A runtime asks before there is any container.',
    async run(lab) {
      const options = { stdin: '{"cniVersion":"1.1.0"}', env: { CNI_PATH: undefined } };
      jsonOf(mustSucceed(await lab.call('VERSION', undefined, options)));
    },
  },
  {
    id: 'contract/version-quick',
    title: 'VERSION answers though stdin is empty',
    cites: 'beyond the spec',
    why: 'People ask by hand, and old runtimes send nothing.',
    async run(lab) {
      jsonOf(mustSucceed(await lab.call('VERSION', undefined, { stdin: '' })));
    },
  },
  ...CNI_VERSIONS.map(
    (version): Check => ({
      id: `contract/result-${version}`,
      title: `ADD answers a configuration of version ${version} with a result of exactly that form`,
      cites: spec('Section 5, ADD Success', '`cniVersion`: The same version supplied on input'),
      why: 'A runtime that speaks an older version misreads, or refuses, the form of another one.',
      skips: ({ versions }) =>
        versions.includes(version) ? undefined : `the plugin does not speak ${version}`,
      async run(lab) {
        const container = await lab.container();
        const config = { cniVersion: version };
        const { json, call } = await lab.add(container, { config });
        const problems = shapeProblems(json, version);
        must(problems.length === 0, `a result as version ${version} has it`, () => problems.join('; '), call);
        const del = await lab.del(container, { config });
        must(del.stdout === '', 'nothing on stdout of DEL', () => del.stdout, del);
      },
    }),
  ),
  {
    id: 'contract/version-refused',
    title: 'a configuration of a version that the plugin does not list is refused with code 1',
    cites: spec('Section 5, Error', '`1`|Incompatible CNI version'),
    why: 'A plugin that guesses gives results that the runtime cannot read.',
    async run(lab) {
      const container = await lab.container();
      const unspoken = ['9.9.9', ...CNI_VERSIONS.filter((each) => !lab.subject.versions.includes(each))];
      for (const cniVersion of unspoken) {
        // Before 0.3.0 there is no previous result for it to be rendered in.
        const prevResult = compareVersions(cniVersion, '0.3.0') < 0 ? null : undefined;
        const options = { config: { cniVersion }, ...(prevResult === null && { prevResult }) };
        refusalWith(await lab.call('ADD', container, options), [1], `for cniVersion "${cniVersion}"`);
      }
    },
  },
  {
    id: 'contract/version-nonsense',
    title: 'a cniVersion that is no version is refused',
    cites: spec('Section 5, Error', 'failed to decode version info from string'),
    why: 'It is a mistake, and the text says which.',
    async run(lab) {
      const container = await lab.container();
      for (const cniVersion of ['latest', 1.1, { major: 1 }]) {
        const call = await lab.call('ADD', container, { config: { cniVersion } });
        refusalWith(call, [1, 6, 7], `for cniVersion ${JSON.stringify(cniVersion)}`);
      }
    },
  },
  {
    id: 'contract/verbs-by-version',
    title: 'CHECK before 0.4.0, GC and STATUS before 1.1.0 are refused',
    cites: 'beyond the spec',
    why: 'These versions have no such command; its success would be believed.',
    async run(lab) {
      const container = await lab.container();
      const early = lab.subject.versions.filter(isCniVersion);
      const cases = [
        ['CHECK', '0.4.0'],
        ['GC', '1.1.0'],
        ['STATUS', '1.1.0'],
      ] as const;
      for (const [command, since] of cases) {
        const cniVersion = early.filter((each) => compareVersions(each, since) < 0).at(-1);
        if (cniVersion === undefined) continue;
        const about = command === 'CHECK' ? container : undefined;
        const call = await lab.call(command, about, { config: { cniVersion }, prevResult: null });
        refusal(call, `for ${command} with cniVersion ${cniVersion}`);
      }
    },
  },
];

/** The same inputs for the reference's plugin and ours, and attachments of one under the verbs of the other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CNI_VERSIONS, PluginError, type Result } from '@heddle/cni';
import type { Container, LabConfig, LabRequest } from '../../testing/index.ts';
import { ReferencePlugins } from '../../testing/index.ts';
import { type Place, STATIC, StackedScene, type Subject } from './scene.ts';
import { addressesIn, linkInfo, linkNames } from './verbs.ts';

interface Release {
  readonly name: string;
  readonly plugins: ReferencePlugins | undefined;
  readonly absent: string;
  readonly places: readonly Place[];
  readonly versions: readonly string[];
}

const RELEASES: readonly Release[] = [
  {
    name: 'the current release',
    plugins: ReferencePlugins.findCurrent(),
    absent: ReferencePlugins.ABSENT_CURRENT,
    places: ['host', 'container'],
    versions: CNI_VERSIONS,
  },
  {
    // It knows neither masters in containers nor version 1.1.0.
    name: "the distribution's release",
    plugins: ReferencePlugins.find(),
    absent: ReferencePlugins.ABSENT,
    places: ['host'],
    versions: ['1.0.0'],
  },
];

/** An input besides what is common, for ADD. */
export type Input = readonly [what: string, config: LabConfig, args?: string];

/**
 * Registers the tests.
 *
 * @param accepted inputs of which both make the same
 * @param refused inputs that both refuse
 */
export function testAgainstReference(
  subject: Subject,
  accepted: readonly Input[],
  refused: readonly Input[],
): void {
  const { type } = subject.plugin;
  for (const { name, plugins, absent, places, versions } of RELEASES) {
    const skip = plugins === undefined && absent;
    const theirs = () => plugins ?? assert.fail('skipped');
    for (const place of places) {
      test(`${type}, master in the ${place}: makes what ${name} makes, at every version`, {
        skip,
      }, async () => {
        for (const cniVersion of versions) await compare(subject, theirs(), place, { cniVersion });
      });

      test(`${type}, master in the ${place}: takes over from ${name}, and hands over`, { skip }, async () => {
        await takeOver(subject, theirs(), place);
      });
    }

    for (const [what, more, args] of accepted) {
      test(`${type}: makes what ${name} makes: ${what}`, { skip }, async () => {
        await compare(subject, theirs(), 'host', more, args);
      });
    }

    for (const [what, more, args] of refused) {
      test(`${type}: refuses what ${name} refuses: ${what}`, { skip }, async () => {
        using scene = new StackedScene(subject);
        const container = scene.container();
        const request = requestOf(scene, container, more, args);
        assert.throws(() => theirs().run(scene.lab.host, { ...request, command: 'ADD' }), PluginError);
        container.run('sh', '-c', 'ip link delete eth0 2>/dev/null; true');
        await assert.rejects(scene.lab.add(request), PluginError);
      });
    }
  }
}

function requestOf(
  scene: StackedScene,
  container: Container,
  more: LabConfig = {},
  args = '',
): LabRequest & { readonly config: { readonly cniVersion: string } } {
  const { prevResult, ...rest } = more;
  return {
    config: { cniVersion: '1.0.0', ...scene.config({ ipam: STATIC, ...rest }) },
    container,
    args,
    prevResult,
  };
}

/** One ADD each, in the same surroundings: same result, same link, addresses and routes. */
async function compare(
  subject: Subject,
  reference: ReferencePlugins,
  place: Place,
  more: LabConfig,
  args?: string,
): Promise<void> {
  const states: object[] = [];
  for (const isOurs of [false, true]) {
    using scene = new StackedScene(subject, place);
    const container = scene.container('c1');
    const request = requestOf(scene, container, more, args);
    const call = { ...request, command: 'ADD' } as const;
    const stdout = isOurs ? (await scene.lab.run(call)).stdout : reference.run(scene.lab.host, call);
    const result = JSON.parse(stdout);
    states.push(stateOf(container, isOurs ? result : behindPrevious(request.prevResult, result)));
  }
  assert.deepEqual(states[1], states[0]);
}

/** The reference forgets the interfaces of a previous result; ours has them before its own. */
function behindPrevious(previous: LabRequest['prevResult'], result: Result): Result {
  const before = (previous as Partial<Result> | undefined)?.interfaces ?? [];
  if (before.length === 0) return result;
  const { interfaces = [], ips = [] } = result;
  return {
    ...result,
    interfaces: [...before, ...interfaces],
    ips: ips.map((ip) =>
      ip.interface === undefined ? ip : { ...ip, interface: ip.interface + before.length },
    ),
  };
}

/** What an ADD made, without what is random. */
function stateOf(
  container: Container,
  result: { readonly cniVersion: string; readonly dns?: object },
): object {
  const { address, mtu, flags, linkinfo } = linkInfo(container, 'eth0');
  const isFixed = address === '02:00:00:00:00:07';
  const anonymous = (text: string) =>
    (isFixed ? text : text.replaceAll(address, 'MAC')).replaceAll(container.path, 'SANDBOX');
  const routes = ['-4', '-6'].flatMap((family) =>
    container
      .run('ip', family, 'route', 'show', 'table', 'main')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('fe80::')),
  );
  // The distribution's release prints an empty dns in results of 1.x as well.
  const { dns = {}, ...rest } = result;
  return {
    result: JSON.parse(anonymous(JSON.stringify({ ...rest, dns }))),
    link: { mtu, flags, linkinfo },
    links: linkNames(container),
    addresses: addressesIn(container),
    routes: routes.sort(),
  };
}

async function takeOver(subject: Subject, reference: ReferencePlugins, place: Place): Promise<void> {
  using scene = new StackedScene(subject, place);
  const { lab } = scene;
  const container = scene.container();
  const request = requestOf(scene, container);
  const before = linkNames(container);

  const added: unknown = JSON.parse(reference.run(lab.host, { ...request, command: 'ADD' }));
  await lab.check({ ...request, prevResult: added });
  await lab.del({ ...request, prevResult: added });
  assert.deepEqual(linkNames(container), before);

  const prevResult = await lab.add(request);
  const call = { ...request, prevResult: { ...prevResult, cniVersion: request.config.cniVersion } };
  reference.run(lab.host, { ...call, command: 'CHECK' });
  reference.run(lab.host, { ...call, command: 'DEL' });
  assert.deepEqual(linkNames(container), before);
}

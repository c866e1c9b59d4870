/** Finds out what a plugin is, by asking and by trying. */
import { basename } from 'node:path';
import { isJsonObject, type JsonObject } from '@heddle/cni';
import type { Kind } from '../check.ts';
import { KitError } from '../failure.ts';
import { type Call, callProgram } from '../lab/call.ts';
import type { House } from '../lab/house.ts';
import { Lab, outcome, shortened } from '../lab/lab.ts';
import { type Daemon, Node } from '../lab/node.ts';
import { quoted } from '../report/reproduce.ts';
import { Subject } from './subject.ts';
import { type Setup, WELL_KNOWN } from './well-known.ts';

/** What the caller says about the plugin. */
export interface Told {
  readonly program: string;
  /** Its object of a network list; for IPAM also that of the plugin that calls it. */
  readonly config?: JsonObject | undefined;
  readonly kind?: Kind | undefined;
  readonly daemons: readonly Daemon[];
  readonly surroundings: Readonly<Record<string, string>>;
}

/**
 * Makes the subject of what is told, of what is known about plugins of that name, and of what the plugin does.
 *
 * @throws {KitError} when it answers neither VERSION nor any ADD: then there is nothing to check
 */
export async function detect(house: House, told: Told): Promise<Subject> {
  const type = basename(told.program);
  const setup = setupOf(type, told.config);
  const daemons = [...told.daemons, ...companionsOf({ ...told, setup })];
  using node = await Node.make({ ...told, daemons, house, number: 0, setup });
  const versions = await versionsOf(told, node);
  const facts = { program: told.program, type, setup, versions };
  const known = told.kind ?? setup.kind;
  const kinds: readonly Kind[] = known === undefined ? ['interface', 'ipam', 'chained'] : [known];
  const failures: string[] = [];
  for (const kind of kinds) {
    const subject = new Subject({ ...facts, kind });
    using lab = new Lab({
      subject,
      house,
      node,
      network: `kit-trial-${kind}`,
      surroundings: told.surroundings,
    });
    const container = await lab.container();
    const call = await lab.call('ADD', container);
    if (call.exitCode !== 0) failures.push(`as ${kind}: ${outcome(call)}${logged(call)}`);
    const found = call.exitCode === 0 ? (known ?? kindOf(call.stdout, kind)) : undefined;
    await lab.call('DEL', container);
    if (found !== undefined) return new Subject({ ...facts, kind: found });
  }
  throw new KitError(
    `${told.program} cannot ADD a container, so there is nothing to check\n  ${failures.join('\n  ')}`,
    {
      hint: 'give it a configuration that works here with --config, and say with --kind what it is',
    },
  );
}

/** What a plugin said on stderr beside its error: often the only word on what is missing. */
function logged({ stdout, stderr }: Call): string {
  const said = stderr.trim();
  return stdout.trim() === '' || said === '' ? '' : `\n    stderr: ${shortened(said)}`;
}

/** The daemon that a plugin of that name brings, unless the caller has one that makes the same path. */
export function companionsOf({
  program,
  setup: { companion },
  daemons,
}: Pick<Subject, 'program' | 'setup'> & Pick<Told, 'daemons'>): readonly Daemon[] {
  if (companion === undefined || daemons.some(({ ready }) => ready === companion.ready)) return [];
  return [{ command: `${quoted(program)} ${companion.args}`, ready: companion.ready, isQuiet: true }];
}

/** IPAM gives addresses without an interface. */
function kindOf(stdout: string, tried: Kind): Kind {
  try {
    const result: unknown = JSON.parse(stdout);
    const interfaces = isJsonObject(result) ? result['interfaces'] : undefined;
    if (tried !== 'chained' && !(Array.isArray(interfaces) && interfaces.length > 0)) return 'ipam';
  } catch {
    // A check of its own says so.
  }
  return tried;
}

function setupOf(type: string, config: JsonObject | undefined): Setup {
  const known = WELL_KNOWN[type];
  if (config !== undefined) {
    const own = typeof config['type'] === 'string' ? config : { type, ...config };
    const { smallPool: _, ...rest } = known ?? {};
    return { ...rest, config: () => own };
  }
  return known ?? { config: () => ({ type }) };
}

async function versionsOf({ program, surroundings }: Told, node: Node): Promise<readonly string[]> {
  const call = await callProgram({
    ...{ program, surroundings, node: node.namespace, shell: undefined, patience: 1000 * ANSWERS_WITHIN },
    env: { CNI_COMMAND: 'VERSION' },
    stdin: '{"cniVersion":"1.1.0"}',
  });
  if (call.timedOut) throw new KitError(`${program} has not answered VERSION within ${ANSWERS_WITHIN} s`);
  try {
    const answer: unknown = JSON.parse(call.stdout);
    const versions = isJsonObject(answer) ? answer['supportedVersions'] : undefined;
    if (Array.isArray(versions) && versions.every((each) => typeof each === 'string')) return versions;
  } catch {
    // What is told below.
  }
  throw new KitError(`${program} does not say which versions it speaks: VERSION ended with ${outcome(call)}`);
}

/** Seconds for what takes any plugin milliseconds. */
const ANSWERS_WITHIN = 30;

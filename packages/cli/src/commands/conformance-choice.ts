/** What `heddle conformance` refuses before anything runs: choices that are no choice, and flags that would say nothing. */
import { isJsonObject, type JsonObject, type JsonValue } from '@heddle/cni';
import type { Suite } from '@heddle/conformance';
import { EXIT } from '../exit-codes.ts';
import { CommandError } from '../output/report-error.ts';

/** What was chosen on the command line. */
export interface Choice {
  readonly runtime?: string | undefined;
  readonly plugin?: string | undefined;
  readonly suite?: readonly string[] | undefined;
  readonly check?: readonly string[] | undefined;
  /** Flags by name that say something about plugins only. */
  readonly ofPlugins: Readonly<Record<string, unknown>>;
}

/** The kit's checks by id. */
export interface Known {
  readonly suites: readonly Suite[];
  readonly checks: readonly string[];
  readonly runtimeChecks: readonly string[];
}

/**
 * The suites of a choice; `undefined` for all.
 *
 * @throws {CommandError} for a choice by which nothing, or something else than what was named, would be checked: to end
 * well without a check would tell continuous integration that all is well
 */
export function chosenSuites(choice: Choice, known: Known): readonly Suite[] | undefined {
  const { runtime, plugin, check, suite } = choice;
  const isRuntime = runtime !== undefined;
  if (isRuntime) refuseForRuntime(choice);
  else if (plugin === undefined) throw usage('which plugin?', 'give the path of its file');
  const ids = isRuntime ? known.runtimeChecks : known.checks;
  const stranger = check?.find((id) => !ids.includes(id));
  if (stranger !== undefined) {
    const subject = isRuntime ? 'a runtime' : 'a plugin';
    throw usage(`there is no check "${stranger}" of ${subject}`, 'heddle conformance --list shows them');
  }
  const suites = suite?.map((name) => suiteCalled(name, known.suites));
  const outside = check?.find((id) => suites?.every((each) => !id.startsWith(`${each}/`)));
  if (outside !== undefined) throw usage(`the check "${outside}" is in no suite that --suite names`);
  return suites;
}

/**
 * The plugin's object in what --config names: the object itself, or that of a network list whose type is the plugin's.
 *
 * @param file for messages
 * @throws {CommandError} for what is neither, and for a list of several of which none, or more than one, is of that type
 */
export function pluginObject(config: JsonValue, type: string, file: string): JsonObject {
  const list = isJsonObject(config) ? config['plugins'] : undefined;
  const objects: readonly JsonValue[] = Array.isArray(list) ? list : [config];
  const own = objects.filter((each) => isJsonObject(each) && each['type'] === type);
  const [object] = objects.length === 1 ? objects : own;
  if (objects.length > 1 && own.length !== 1) {
    throw usage(
      `${file}: of ${objects.length} plugins ${own.length} are of the type "${type}"`,
      'give the object of one',
    );
  }
  if (object !== undefined && isJsonObject(object)) return object;
  throw usage(`${file}: the plugin's object of a network list is expected`);
}

function refuseForRuntime({ plugin, suite, ofPlugins }: Choice): void {
  if (plugin !== undefined)
    throw usage(
      `either --runtime or a plugin, not both: "${plugin}"`,
      'quote the whole command of the runtime',
    );
  const flags = Object.entries({ suite, ...ofPlugins }).filter(([, value]) => value !== undefined);
  const [flag] = flags.map(([name]) => name);
  if (flag !== undefined) throw usage(`--${flag} is about plugins, and says nothing about a runtime`);
}

function suiteCalled(name: string, known: readonly Suite[]): Suite {
  const found = known.find((each) => each === name);
  if (found !== undefined) return found;
  throw usage(`there is no suite "${name}"`, `there are ${known.join(', ')}`);
}

function usage(message: string, hint?: string): CommandError {
  return new CommandError(EXIT.USAGE, message, hint === undefined ? {} : { hint });
}

/** What makes ADD fail for sure, as far as it is known before it is tried. */
import type { ExplainedNetwork, Program } from '@heddle/doctor';

/** Each as a sentence fragment; nothing where no reason is known. */
export function certainFailures({ plugins, cniVersion }: ExplainedNetwork): readonly string[] {
  const reasons = plugins.flatMap(({ type, program, delegates, speaksVersion }) => [
    ...(cannotRun(program) ? [`${type} cannot be run`] : []),
    ...(speaksVersion === false ? [`${type} does not speak ${cniVersion}`] : []),
    ...delegates
      .filter((delegate) => cannotRun(delegate.program))
      .map((delegate) => `${delegate.program.type} cannot be run`),
  ]);
  return [...new Set(reasons)];
}

function cannotRun({ path, isStartable }: Program): boolean {
  return path === undefined || isStartable === false;
}

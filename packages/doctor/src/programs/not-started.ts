/** Programs that are there and that the kernel does not start. */
import { PluginError } from '@heddle/cni';

/**
 * Why the kernel did not start a plugin, by what its call has thrown: another processor's, an interpreter that is not
 * there. Nothing for one that was started, whatever became of it.
 */
export function notStarted(error: unknown): string | undefined {
  return error instanceof PluginError ? WORDS.exec(error.message)?.[1] : undefined;
}

/** How a runtime words it. */
const WORDS = /fork\/exec \S+: (.*)$/s;

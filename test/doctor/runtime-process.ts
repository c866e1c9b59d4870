/**
 * A container runtime as a process of its own, which attaches one pod and stops at a moment that is asked for, so that
 * it can be killed there. Its plugins live on without it.
 *
 * `node runtime-process.ts REQUEST`, a {@link DoomedAdd} as JSON.
 */
import { type Attachment, loadNetworkFile, type PluginExec, Runtime, systemExec } from '@heddle/cni/runtime';

/** Where in ADD the runtime stops: when the first plugin has been started, when it has answered, when all have. */
export const MOMENTS = ['started', 'first answered', 'all answered'] as const;

/** What to attach, and where to stop. */
export interface DoomedAdd {
  readonly file: string;
  readonly path: readonly string[];
  readonly cacheDir: string;
  readonly attachment: Attachment;
  readonly moment: (typeof MOMENTS)[number];
}

if (import.meta.main) {
  const request: DoomedAdd = JSON.parse(process.argv[2] ?? '');
  const { file, path, cacheDir, attachment } = request;
  const list = loadNetworkFile(file);
  const exec = stopping(request, list.plugins.length);
  await new Runtime({ path, cacheDir, env: process.env, exec }).add(list, attachment);
}

function stopping({ moment }: DoomedAdd, plugins: number): PluginExec {
  const { find, run } = systemExec();
  let answers = 0;
  return {
    find,
    async run(each) {
      const answer = run(each);
      if (each.env['CNI_COMMAND'] !== 'ADD') return await answer;
      if (moment === 'started') await stop();
      const output = await answer;
      answers++;
      if (moment === 'first answered' || answers === plugins) await stop();
      return output;
    },
  };
}

/** Says that it is so far, and never goes on. */
async function stop(): Promise<void> {
  process.stdout.write('now\n');
  await new Promise(() => setInterval(() => undefined, 60_000));
}

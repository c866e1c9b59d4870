/** A web server in one namespace and a client in another. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openNetns, runInNetns } from '@heddle/sys';

/** Starts a server in a namespace; it answers everything with `text` until it is disposed of. */
export async function serveIn(netns: string, port: number, text: string): Promise<Disposable> {
  const script = `require('node:http').createServer((_, answer) => answer.end(${JSON.stringify(text)})).listen(${port}, () => console.log('ready'))`;
  const child = startIn(netns, script);
  if (child.stdout !== null) await once(child.stdout, 'data');
  return { [Symbol.dispose]: () => void child.kill() };
}

/** What a server answers to a client in a namespace. */
export async function fetchFrom(netns: string, url: string): Promise<string> {
  const script = `fetch(${JSON.stringify(url)}, { signal: AbortSignal.timeout(30000) }).then((answer) => answer.text()).then(console.log)`;
  const child = startIn(netns, script);
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`no answer from ${url}`);
  return text.trim();
}

function startIn(netns: string, script: string): ChildProcess {
  using handle = openNetns(`/run/netns/${netns}`);
  const stdio: ('ignore' | 'pipe' | 'inherit')[] = ['ignore', 'pipe', 'inherit'];
  return runInNetns(handle, () => spawn(process.execPath, ['-e', script], { stdio }));
}

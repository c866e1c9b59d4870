/**
 * Calls the plugin in this process's own namespace, and kills the process at the n-th request to the kernel, after
 * saying which it was. Arguments: n, and the call as JSON.
 */
import { writeSync } from 'node:fs';
import { openSession } from '@heddle/netlink';
import { openNetns } from '@heddle/sys';
import { type LabCall, PluginCaller, Sabotage } from '../testing/index.ts';
import { firewall } from './index.ts';

class OwnNamespace extends PluginCaller {
  protected override openNetns(path: string) {
    return openNetns(path);
  }

  protected override openSession(netns: ReturnType<typeof openNetns> | undefined) {
    return openSession(netns === undefined ? {} : { netns });
  }
}

const [, , at, json = ''] = process.argv;
const call: LabCall = JSON.parse(json);
const sabotage = new Sabotage(Number(at), 'dies');
const wrap = sabotage.wrap.bind(sabotage);
const outcome = await sabotage.outcome(new OwnNamespace([firewall]).run({ ...call, wrap }));
if (outcome === undefined) {
  writeSync(1, sabotage.failed ?? '');
  process.kill(process.pid, 'SIGKILL');
}
process.stderr.write(outcome?.stdout ?? '');
process.exitCode = outcome?.exitCode ?? 1;

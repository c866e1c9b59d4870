/** What is behind failures of runtimes. */
import type { Explanation } from '../explanations.ts';

/** See the file's comment. */
export const RUNTIME_EXPLANATIONS: readonly Explanation[] = [
  {
    subjects: ['heddle'],
    checks: ['runtime/no-capabilities-member'],
    text: 'It does as libcni does, so that a plugin finds the same under either.',
  },
  {
    subjects: ['cnitool', 'podman', 'containerd'],
    checks: ['runtime/no-capabilities-member'],
    text: 'libcni, which it is built on, leaves the member in the configuration.',
  },
  {
    subjects: ['cnitool'],
    checks: ['runtime/gc-list'],
    text: 'cnitool gives libcni no list, and libcni then hands none on. What it takes down itself, by DEL, is what its cache holds.',
  },
  {
    subjects: ['podman'],
    checks: ['runtime/failed-del'],
    text: 'Podman writes the failure to its log, ends with 0 and forgets the container: there is nothing left to repeat.',
  },
  {
    subjects: ['containerd'],
    checks: ['runtime/failed-del'],
    text: '`ctr` writes the failure to its log and ends with 0: there is nothing left to repeat.',
  },
  {
    subjects: ['containerd'],
    checks: ['runtime/del-order'],
    text: 'Order and previous result are as they should be; but `ctr` takes the network down when the process is gone, and gives an empty CNI_NETNS.',
  },
].map((each) => ({ ...each, pages: ['runtimes'] }));

/** A node on which the reference has published many ports, without waiting for it to do so. */
import { BenchError, type Site } from '@heddle/bench';

/** One pod publishes this many ports, as with `heddle bench --fill-mappings`. */
const PORTS_A_POD = 20;

/**
 * Attaches one pod that publishes ports, and copies its rules, with other names, addresses and ports, until there are so
 * many. The plugins' own way takes minutes: they start iptables half a dozen times for each port.
 */
export async function copyMappings(site: Site, mappings: number): Promise<void> {
  const [pod] = await site.pods.make(1, PORTS_A_POD);
  if (pod === undefined) return;
  await site.run('ADD', [pod], { parallel: 1, probes: [] });
  const saved = await run(site, ['/usr/sbin/iptables-save'], '');
  const copies = Array.from({ length: Math.floor(mappings / PORTS_A_POD) - 1 }, (_, index) =>
    copyOf(saved, index + 1),
  );
  // The kernel takes a transaction of this size, but not all of them in one.
  for (let at = 0; at < copies.length; at += 10) {
    await run(site, ['/usr/sbin/iptables-restore', '--noflush'], copies.slice(at, at + 10).join(''));
  }
}

/** The rules that are the pod's own, as another pod's. */
function copyOf(saved: string, index: number): string {
  const address = `10.77.${200 + Math.floor(index / 250)}.${1 + (index % 250)}`;
  const own = /\b10\.77\.\d+\.\d+\/32\b|CNI-(?:DN-|SN-)?[0-9a-f]{16,}/;
  const tables = saved.split(/^(?=\*)/m).filter((table) => table.startsWith('*'));
  return tables
    .map((table) => {
      const [name = '', ...lines] = table.split('\n');
      const chains = lines.filter((line) => line.startsWith(':') && own.test(line));
      const rules = lines.filter((line) => line.startsWith('-A') && own.test(line));
      const copied = [...chains, ...rules].map((line) =>
        line
          .replaceAll(/\[\d+:\d+\]/g, '[0:0]')
          .replaceAll(/10\.77\.0\.\d+(?=[/:\s])/g, (each) =>
            each === '10.77.0.0' || each === '10.77.0.1' ? each : address,
          )
          .replaceAll(/(CNI-(?:DN-|SN-)?[0-9a-f]{12})[0-9a-f]+/g, `$1${String(index).padStart(4, '0')}`)
          .replaceAll(/bench-pod\d+/g, `bench-copy${index}`)
          .replaceAll(
            /(--dports? )([\d,]+)/g,
            (_, option: string, ports: string) =>
              `${option}${ports
                .split(',')
                .map((port) => moved(Number(port), index))
                .join(',')}`,
          ),
      );
      return `${name}\n${copied.join('\n')}\nCOMMIT\n`;
    })
    .join('');
}

/** Ports of the node are far from those of the pods that are measured. */
function moved(port: number, index: number): number {
  return port >= 1024 && port < 8000 ? 20_000 + index * PORTS_A_POD + (port % PORTS_A_POD) : port;
}

async function run(
  { node }: Site,
  [program = '', ...args]: readonly string[],
  input: string,
): Promise<string> {
  // The driver gives programs no arguments: a shell does.
  const command = [program, ...args].join(' ');
  const job = { pod: undefined, ifName: '', probes: [] };
  const { jobs } = await node.run(
    [
      {
        ...job,
        steps: [
          {
            program: '/bin/sh',
            env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
            input: `${command} <<'END'\n${input}END\n`,
          },
        ],
      },
    ],
    { parallel: 1, patience: 120_000, probePatience: 0, stops: true },
  );
  const outcome = jobs[0]?.steps[0];
  if (outcome?.ending === 'exited' && outcome.code === 0) return outcome.stdout;
  throw new BenchError('BENCH_FAILED', `${command}: ${outcome?.stderr}`);
}

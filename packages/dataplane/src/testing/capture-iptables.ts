/**
 * Captures what iptables-nft makes of rules: the expressions that the kernel lists, and the line that iptables-save
 * prints. Run it to renew `iptables-nft/vectors/rules.json`.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openSession } from '@heddle/netlink';
import { createNetns, runInNetns } from '@heddle/sys';

/** Rules as arguments of iptables, by table; each is added to its chain. */
const RULES: readonly (readonly [family: 4 | 6, table: 'filter' | 'nat', rule: string])[] = [
  [4, 'filter', 'FORWARD -m comment --comment "CNI firewall plugin rules" -j CNI-FORWARD'],
  [4, 'filter', 'FORWARD -d 10.1.2.5/32 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT'],
  [4, 'filter', 'FORWARD -s 10.1.2.5/32 -j ACCEPT'],
  [4, 'filter', 'FORWARD -i br0 ! -o br0 -m comment --comment "a (b: c)" -j CNI-FORWARD'],
  [4, 'filter', 'FORWARD -i br0 -o br0 -j DROP'],
  [4, 'filter', 'FORWARD -i br+ -j RETURN'],
  [4, 'filter', 'FORWARD -m comment --comment x -g CNI-FORWARD'],
  [4, 'filter', 'FORWARD ! -s 10.1.2.0/24 -p tcp -j ACCEPT'],
  [4, 'filter', 'FORWARD -s 10.1.0.0/20 -j ACCEPT'],
  [4, 'filter', 'FORWARD ! -d 224.0.0.0/4 -p udp -m udp --dport 53 -j ACCEPT'],
  [4, 'filter', 'FORWARD -p sctp -m sctp --dport 53 -j ACCEPT'],
  [4, 'filter', 'FORWARD -p tcp -m multiport --dports 80,443 -j ACCEPT'],
  [4, 'filter', 'FORWARD -m mark --mark 0x2000/0x2000 -j ACCEPT'],
  [4, 'filter', 'FORWARD -m mark ! --mark 0x2000 -j ACCEPT'],
  [6, 'filter', 'FORWARD -d fd00::2/128 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT'],
  [6, 'filter', 'FORWARD -s fd00::2/128 -j ACCEPT'],
  [6, 'filter', 'FORWARD -s fd00::/64 -p tcp -m tcp --dport 80 -j ACCEPT'],
  [6, 'filter', 'FORWARD ! -d ff00::/8 -j ACCEPT'],
  [4, 'nat', 'PREROUTING -m addrtype --dst-type LOCAL -j RETURN'],
  [4, 'nat', 'PREROUTING -d 10.9.9.9/32 -p tcp -m tcp --dport 8080 -j DNAT --to-destination 10.1.2.5:80'],
  [4, 'nat', 'POSTROUTING -m mark --mark 0x2000/0x2000 -j MASQUERADE'],
  [4, 'nat', 'POSTROUTING -j MARK --set-xmark 0x2000/0x2000'],
  [6, 'nat', 'PREROUTING -p udp -m udp --dport 8080 -j DNAT --to-destination [fd00::2]:80'],
  [6, 'nat', 'POSTROUTING -m comment --comment x -j MASQUERADE'],
];

const captured: object[] = [];
for (const [family, table, rule] of RULES) captured.push(await capture(family, table, rule));
const path = fileURLToPath(new URL('../iptables-nft/vectors/rules.json', import.meta.url));
writeFileSync(path, `[\n${captured.map((each) => `  ${JSON.stringify(each)}`).join(',\n')}\n]\n`);

async function capture(family: 4 | 6, table: 'filter' | 'nat', rule: string): Promise<object> {
  using netns = createNetns();
  using session = openSession({ netns, mode: 'sync' });
  const run = (command: string) => {
    const { status, stdout, stderr } = runInNetns(netns, () =>
      spawnSync('sh', ['-c', command], { encoding: 'utf8' }),
    );
    if (status !== 0) throw new Error(`${command}: ${stderr}`);
    return stdout;
  };
  const program = family === 4 ? 'iptables' : 'ip6tables';
  if (rule.includes('CNI-FORWARD')) run(`${program} -t ${table} -N CNI-FORWARD`);
  run(`${program} -t ${table} -A ${rule}`);
  const [saved = ''] = run(`${program}-save -t ${table}`)
    .split('\n')
    .filter((line) => line.startsWith('-A '));
  const [chain = ''] = rule.split(' ');
  const where = { family: family === 4 ? 'ip' : 'ip6', table, chain } as const;
  const [listed] = await session.nft.rules(where);
  const text = JSON.stringify(listed?.expressions, (_, value: unknown) => {
    if (value instanceof Uint8Array) return { hex: Buffer.from(value).toString('hex') };
    return typeof value === 'bigint' ? { integer: String(value) } : value;
  });
  return { command: `${program} -t ${table} -A ${rule}`, saved, expressions: JSON.parse(text) as unknown };
}

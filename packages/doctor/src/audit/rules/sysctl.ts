import { type AuditRule, partRule } from '../audit-rule.ts';
import { member, objectMember, type PluginPart } from '../model/network.ts';

const sysctlOutside = partRule({
  id: 'misuse/sysctl-outside-network',
  title: "A kernel parameter that is none of the network's",
  severity: 'error',
  explains:
    'tuning writes below /proc/sys/net only. Another parameter, or a name that leads out of that directory, is refused. `IFNAME` stands for the interface.',
  *check(part) {
    for (const { key, at } of sysctlsOf(part)) {
      const path = sysctlPath(key);
      if (path.startsWith('net/') && !key.includes('..')) continue;
      yield {
        place: part.document.keyPlace(at),
        what: `${key} is not below net`,
        consequence: 'Every attachment fails: tuning refuses it.',
        remedy: 'Set it for the node in /etc/sysctl.d, or name a parameter that begins with "net.".',
      };
    }
  },
});

const sysctlTwice = partRule({
  id: 'misuse/sysctl-twice',
  title: 'One kernel parameter under two names',
  severity: 'error',
  explains:
    'A parameter can be written with dots or with slashes. With both spellings, and different values, which one is in force depends on chance.',
  *check(part) {
    const seen = new Map<string, unknown>();
    for (const { key, value, at } of sysctlsOf(part)) {
      const path = sysctlPath(key);
      const before = seen.get(path);
      if (before !== undefined && before !== value) {
        yield {
          place: part.document.keyPlace(at),
          what: `${key} is there twice, with the values ${JSON.stringify(before)} and ${JSON.stringify(value)}`,
          consequence: 'One of them is in force, and which one nobody knows.',
          remedy: 'Keep one of them.',
        };
      }
      seen.set(path, value);
    }
  },
});

function sysctlsOf({ path, raw, type }: PluginPart) {
  if (type !== 'tuning') return [];
  const [name = 'sysctl'] = member(raw, 'sysctl') ?? [];
  const sysctls = objectMember(raw, 'sysctl') ?? {};
  return Object.entries(sysctls).map(([key, value]) => ({ key, value, at: [...path, name, key] }));
}

/** As the kernel has it: a name with slashes keeps its dots, which then belong to the name of a link. */
function sysctlPath(key: string): string {
  const dot = key.indexOf('.');
  const slash = key.indexOf('/');
  return slash >= 0 && (dot < 0 || slash < dot) ? key : key.replaceAll('.', '/');
}

/** Rules on kernel parameters, the likeliest first. */
export const SYSCTL_RULES: readonly AuditRule[] = [sysctlOutside, sysctlTwice];

/** Whether the table of tracked connections has room. */
import type { Finding } from '../finding.ts';
import { found } from '../rule.ts';
import { ago, doctorRule, type NodeCheck } from './check.ts';

const full = doctorRule({
  id: 'kernel/conntrack-full',
  severity: 'error',
  title: 'The table of tracked connections is full',
  explains:
    'The kernel remembers every connection that passes a stateful rule. When `nf_conntrack_count` reaches `nf_conntrack_max`, packets of new connections are dropped ("nf_conntrack: table full, dropping packet"). From nine tenths on it is an error, from three quarters a warning.',
});

/** See the file's comment. */
export const conntrackCheck: NodeCheck = {
  rules: [full],
  async look(view): Promise<readonly Finding[]> {
    const used = Number(await view.sysctl('net/netfilter/nf_conntrack_count'));
    const most = Number(await view.sysctl('net/netfilter/nf_conntrack_max'));
    if (!(most > 0) || used < most * WARN) return [];
    const share = Math.round((used / most) * 100);
    const said = view.ports.machine
      .kernelLog()
      .findLast(({ text }) => text.includes('nf_conntrack: table full'));
    return [
      found(full, {
        severity: used >= most * FULL ? 'error' : 'warning',
        subject: 'conntrack',
        what: `${used} of ${most} connections are tracked (${share} %)`,
        consequence:
          'Once it is full, packets of new connections are dropped: name look-ups and connects fail now and then.',
        remedy:
          'make room for more, and write the same into a file of /etc/sysctl.d (kube-proxy sets it again: conntrack.maxPerCore); find out who opens so many (`conntrack -L`)',
        commands: [`sysctl -w net.netfilter.nf_conntrack_max=${most * 2}`],
        ...(said !== undefined && { evidence: [`${said.text} (${ago(view.ports.now() - said.at)})`] }),
      }),
    ];
  },
};

const WARN = 0.75;
const FULL = 0.9;

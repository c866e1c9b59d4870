/** What the doctor says beside its findings, for people. */
import { styleText } from 'node:util';
import type { Freed, Step, Walk } from '@heddle/doctor';
import { printable } from '../output/printable.ts';

/** Walks, hop by hop. */
export function walksText(walks: readonly Walk[], styled: boolean): string {
  return walks.map((walk) => `${walkText(walk, styled)}\n`).join('');
}

function walkText({ attachment, family, target, steps }: Walk, styled: boolean): string {
  const title = `${attachment}, IPv${family}${target === null ? '' : `, to ${target}`}`;
  const width = Math.max(...steps.map(({ hop }) => hop.length));
  const lines = steps.map(
    (step) => `  ${mark(step, styled)} ${step.hop.padEnd(width)}  ${printable(step.what)}\n`,
  );
  return `${styled ? styleText('bold', title, { validateStream: false }) : title}\n${lines.join('')}`;
}

function mark({ ok }: Step, styled: boolean): string {
  const text = ok ? 'ok  ' : 'lost';
  return styled ? styleText(ok ? 'green' : 'red', text, { validateStream: false }) : text;
}

/** How to look further than at the node's own gateway. */
export function furtherText(container: string): string {
  return `\`heddle doctor ${container} --probe ADDRESS\` follows packets to somebody further away\n\n`;
}

/** What was freed, or would be. */
export function freedText({ freed, spared }: Freed, dryRun: boolean): string {
  const verb = dryRun ? 'would free' : 'freed';
  const lines = [
    ...freed.map(
      ({ addr, network, containerID }) => `${verb} ${addr} on ${network}, held for ${containerID}`,
    ),
    ...spared.map(({ reservation: { addr, network }, why }) => `left ${addr} on ${network} alone: ${why}`),
  ];
  if (lines.length === 0) lines.push(`${verb} nothing`);
  return lines.map((line) => `${printable(line)}\n`).join('');
}

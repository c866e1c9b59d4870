/** What `heddle explain --plan` says, for people. */
import { styleText } from 'node:util';
import type { Plan, PlannedChange } from '@heddle/doctor';
import { jsonText } from '../output/json-text.ts';
import { printable } from '../output/printable.ts';
import { wrap } from '../output/wrap.ts';
import { type ExplainStyle, heading, indented } from './text.ts';

/** The changes by side, then files, the result, and what was not as on the node. */
export function planText(plan: Plan, style: ExplainStyle): string {
  const { changes, files, result, failure, notes, steps } = plan;
  const said = steps.filter(({ stderr }) => stderr.trim() !== '');
  const sections = [
    ...(['host', 'pod'] as const).map((side) => sideText(side, changes, style)),
    section(
      'Files that were written',
      files,
      ({ path, what, by }) => `${SIGNS[what]} ${path}  (${by})`,
      style,
    ),
    section('Said on stderr', said, ({ type, stderr }) => `${type}: ${stderr.trim()}`, style),
    failure === undefined
      ? `${heading('Result', style)}\n${indented(`${jsonText(result, style.width - 2)}\n`, 2)}`
      : `${heading('ADD fails', style)}\n${indented(`${printable(failureText(failure))}\n`, 2)}`,
    section(
      'Not as on the node',
      notes,
      (note) => `- ${wrap(note, style.width - 4).replaceAll('\n', '\n  ')}`,
      style,
    ),
  ];
  return sections.filter((text) => text !== '').join('\n');
}

const SIGNS = { made: '+', changed: '~', removed: '-' } as const;

function failureText({ message, cniDetails }: NonNullable<Plan['failure']>): string {
  return cniDetails === undefined ? message : `${message}; ${cniDetails}`;
}

function section<T>(
  title: string,
  items: readonly T[],
  line: (item: T) => string,
  style: ExplainStyle,
): string {
  if (items.length === 0) return '';
  return `${heading(title, style)}\n${items.map((item) => indented(`${line(item)}\n`, 2)).join('')}`;
}

function sideText(
  side: PlannedChange['side'],
  changes: readonly PlannedChange[],
  style: ExplainStyle,
): string {
  const title = side === 'host' ? 'Changes on the host' : 'Changes in the pod';
  const own = changes.filter((change) => change.side === side);
  if (own.length === 0) return `${heading(title, style)}\n  none\n`;
  const groups = [...Map.groupBy(own, ({ matter }) => matter)].map(([matter, members]) => {
    const lines = members.map((change) => `    ${changeLine(change, style)}\n`);
    return `  ${matter}\n${lines.join('')}`;
  });
  return `${heading(title, style)}\n${groups.join('')}`;
}

function changeLine({ sign, text, by, isThere }: PlannedChange, { styled }: ExplainStyle): string {
  const line = `${sign} ${printable(text)}`;
  const remark = `  (${by}${isThere === true ? ', there already' : ''})`;
  if (!styled) return `${line}${remark}`;
  const colour = isThere === true ? 'dim' : sign === '+' ? 'green' : 'red';
  const options = { validateStream: false };
  return `${styleText(colour, line, options)}${styleText('dim', remark, options)}`;
}

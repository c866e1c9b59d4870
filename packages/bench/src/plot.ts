/**
 * A report as a drawing. Each verb has two panels: how long each attachment took (every one a dot, on a logarithmic
 * axis, with the median and the middle half), and how many were done a second.
 */
import type { BenchReport, Measurement, NetworkReport } from './report.ts';
import { figure } from './rows.ts';
import { seeded } from './statistics.ts';
import { drawing, element } from './svg.ts';

/**
 * Draws a report.
 *
 * @returns a whole SVG document
 */
export function plotSvg({ environment, workload, networks }: BenchReport): string {
  const sections: string[] = [];
  let y = MARGIN + 30;
  for (const report of networks) {
    const { drawn, height } = section(report, y);
    sections.push(...drawn);
    y += height;
  }
  const { processor, processors, kernel, load } = environment;
  const machine = `${processors} × ${processor}, Linux ${kernel}, load ${figure(load.before)} before, ${figure(load.after)} after`;
  const what = `${workload.rounds} rounds of ${workload.batch}, ${workload.parallel} at a time; ${machine}`;
  return drawing(WIDTH, y + MARGIN, [
    element('rect', { width: WIDTH, height: y + MARGIN, fill: '#ffffff' }),
    text('Attaching and detaching', { x: MARGIN, y: MARGIN + 4, size: 18, weight: 600 }),
    text(what, { x: MARGIN, y: MARGIN + 24, fill: FAINT }),
    ...sections,
  ]);
}

const WIDTH = 1080;
const MARGIN = 28;
const LABELS = 220;
const LATENCY = { x: LABELS, width: 520 };
const RATE = { x: LABELS + LATENCY.width + 40, width: WIDTH - LABELS - LATENCY.width - 40 - MARGIN - 60 };
const LANE = 30;
const INK = '#1f2933';
const FAINT = '#66727f';
const GRID = '#e4e7eb';
/** Of contenders, in their order; told apart also without colour, as each has a lane of its own. */
const COLOURS = ['#7b8794', '#2563eb', '#d97706', '#059669', '#9333ea', '#db2777'];

function section(
  report: NetworkReport,
  top: number,
): { readonly drawn: readonly string[]; readonly height: number } {
  const names = report.contenders.map(({ name }) => name);
  const drawn = [
    text(`${report.network}: ${report.chain.join(', ')}`, { x: MARGIN, y: top + 34, size: 14, weight: 600 }),
    text('milliseconds, logarithmic: dots, median, middle half', { x: LATENCY.x, y: top + 54, fill: FAINT }),
    text('attachments a second', { x: RATE.x, y: top + 54, fill: FAINT }),
  ];
  let y = top + 72;
  for (const verb of new Set(report.measurements.map((each) => each.verb))) {
    const measured = report.measurements.filter((each) => each.verb === verb && each.latency.count > 0);
    if (measured.length === 0) continue;
    drawn.push(...panels(verb, measured, names, y));
    y += measured.length * LANE + 44;
  }
  return { drawn, height: y - top };
}

function panels(
  verb: string,
  measured: readonly Measurement[],
  names: readonly string[],
  top: number,
): readonly string[] {
  const axis = logarithmic(measured.flatMap(({ samples }) => samples.latency));
  const bottom = top + measured.length * LANE;
  const fastest = Math.max(...measured.map(({ throughput }) => throughput.median));
  return [
    text(verb, { x: MARGIN, y: top + LANE / 2 + 4, weight: 600 }),
    ...axis.ticks.flatMap((tick) => [
      line({ x1: axis.at(tick), x2: axis.at(tick), y1: top, y2: bottom, stroke: GRID }),
      text(String(tick), { x: axis.at(tick), y: bottom + 16, fill: FAINT, anchor: 'middle' }),
    ]),
    line({ x1: RATE.x, x2: RATE.x, y1: top, y2: bottom, stroke: FAINT }),
    ...measured.flatMap((each, lane) => {
      const y = top + (lane + 0.5) * LANE;
      const colour = COLOURS[names.indexOf(each.contender) % COLOURS.length] ?? INK;
      return [
        text(each.contender, { x: LABELS - 14, y: y + 4, anchor: 'end' }),
        ...distribution(each, y, colour, axis.at),
        ...bar(each.throughput.median, { y, colour, width: (each.throughput.median / fastest) * RATE.width }),
      ];
    }),
  ];
}

function distribution(
  { latency: { median, low, high }, samples }: Measurement,
  y: number,
  colour: string,
  at: (value: number) => number,
): readonly string[] {
  // The same report gives the same drawing.
  const random = seeded(1);
  // More dots than pixels only make the file large.
  const step = Math.ceil(samples.latency.length / MOST_DOTS);
  const dots = samples.latency
    .filter((_, index) => index % step === 0)
    .map((value) =>
      element('circle', {
        cx: at(value),
        cy: y + (random() - 0.5) * LANE * 0.6,
        r: 1.8,
        fill: colour,
        'fill-opacity': 0.35,
      }),
    );
  return [
    ...dots,
    line({ x1: at(low), x2: at(high), y1: y, y2: y, stroke: colour, 'stroke-width': 3 }),
    line({ x1: at(median), x2: at(median), y1: y - 9, y2: y + 9, stroke: INK, 'stroke-width': 2 }),
    text(figure(median), { x: at(median), y: y - 11, size: 10, anchor: 'middle', weight: 600 }),
  ];
}

const MOST_DOTS = 400;

function bar(
  value: number,
  { y, colour, width }: { y: number; colour: string; width: number },
): readonly string[] {
  return [
    element('rect', { x: RATE.x, y: y - 7, width: Math.max(width, 1), height: 14, fill: colour, rx: 2 }),
    text(figure(value), { x: RATE.x + Math.max(width, 1) + 6, y: y + 4 }),
  ];
}

/** An axis from the tick below all values to the one above them; ticks are 1, 2 and 5 of each power of ten. */
function logarithmic(values: readonly number[]): {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
} {
  const powers = Array.from({ length: 14 }, (_, index) => 10 ** (index - 5));
  const all = powers.flatMap((power) => [1, 2, 5].map((step) => Number((step * power).toPrecision(1))));
  const least = all.findLast((tick) => tick <= Math.min(...values)) ?? (all[0] as number);
  const most = all.find((tick) => tick >= Math.max(...values) && tick > least) ?? (all.at(-1) as number);
  const width = Math.log(most / least);
  const inside = all.filter((tick) => tick >= least && tick <= most);
  return {
    at: (value) => LATENCY.x + (Math.log(Math.max(value, least) / least) / width) * LATENCY.width,
    // With several powers, one tick each is enough.
    ticks:
      inside.length > 9
        ? inside.filter((tick) => Number.isInteger(Math.round(Math.log10(tick) * 1e6) / 1e6))
        : inside,
  };
}

function line(attributes: Readonly<Record<string, string | number>>): string {
  return element('line', attributes);
}

function text(
  content: string,
  {
    x,
    y,
    size,
    weight,
    fill = INK,
    anchor,
  }: {
    readonly x: number;
    readonly y: number;
    readonly size?: number;
    readonly weight?: number;
    readonly fill?: string;
    readonly anchor?: 'middle' | 'end';
  },
): string {
  return element(
    'text',
    {
      ...{ x, y, fill },
      ...(size !== undefined && { 'font-size': size }),
      ...(weight !== undefined && { 'font-weight': weight }),
      ...(anchor !== undefined && { 'text-anchor': anchor }),
    },
    content,
  );
}

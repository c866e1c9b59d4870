export { Conntrack } from './conntrack.ts';
export { type Flow, type FlowFilter, type FlowTuple, IPS } from './flow.ts';

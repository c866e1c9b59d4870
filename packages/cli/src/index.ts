/** The `heddle` command as a library: run it in a process that is not its own, or document it. */
export { heddle } from './heddle.ts';
export { commandReference } from './reference.ts';
export {
  DEFAULT_PLACES,
  type Places,
  type SignalSource,
  type Surroundings,
  type TextSink,
} from './surroundings.ts';

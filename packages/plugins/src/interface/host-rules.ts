/**
 * The rules that main plugins keep on the host. Whoever needs them imports this module where it does, with `import()`:
 * the code behind it is large, and many a network has no rules.
 */
export {
  addMasquerade,
  addSpoofCheck,
  checkMasquerade,
  checkSpoofCheck,
  gcMasquerade,
  gcSpoofCheck,
  removeMasquerade,
  removeSpoofCheck,
} from '@heddle/dataplane';

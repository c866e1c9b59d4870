import * as v from 'valibot';

/** The number of a VLAN as configurations write it; 0 means none (IEEE 802.1Q). */
export function vlanId() {
  const problem = ({ input }: { readonly input: unknown }) =>
    `invalid VLAN ID ${input} (must be between 0 and 4094)`;
  return v.pipe(v.number(), v.integer(problem), v.minValue(0, problem), v.maxValue(4094, problem));
}

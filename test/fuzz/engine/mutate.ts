/** Inputs out of inputs. */
import { mutate as mutateJson } from '../mutate.ts';
import { changeAttributes } from './mutate-attributes.ts';
import { changeBytes, insert, type Materials } from './mutate-bytes.ts';
import { bytesOf, type Shape, textOf } from './target.ts';

/** Longer inputs are cut: what a decoder does wrong shows in short ones, and those are quick. */
const LONGEST = 16 * 1024;

/** The input after a few changes that suit its shape. */
export function mutate(input: Uint8Array, shape: Shape, materials: Materials): Uint8Array {
  let output = input;
  // Mostly one change, rarely many.
  do output = changeOnce(output, shape, materials);
  while (materials.choices.chance(5));
  return output.length > LONGEST ? output.slice(0, LONGEST) : output;
}

function changeOnce(input: Uint8Array, shape: Shape, materials: Materials): Uint8Array {
  switch (shape.of) {
    case 'attributes':
      return changeAttributes(input, shape.header, materials);
    case 'json':
      return changeJson(input, materials);
    case 'text':
      return changeText(input, materials);
    default:
      return changeBytes(input, materials);
  }
}

function changeJson(input: Uint8Array, materials: Materials): Uint8Array {
  const { choices, dictionary, other } = materials;
  const document = parsed(input);
  if (document === undefined || choices.chance(1)) return changeBytes(input, materials);
  const words = () => textOf(dictionary[choices.below(dictionary.length)] ?? new Uint8Array(0));
  return bytesOf(mutateJson(document, choices, { word: words, part: () => parsed(other()) }));
}

function parsed(input: Uint8Array): unknown {
  try {
    return JSON.parse(textOf(input));
  } catch {
    return undefined;
  }
}

/** Lines and words are moved as a whole now and then. */
function changeText(input: Uint8Array, materials: Materials): Uint8Array {
  const { choices, other } = materials;
  if (!choices.chance(3)) return changeBytes(input, materials);
  const parts = textOf(input).split(SEPARATORS);
  const from = choices.chance(5) ? parts : textOf(other()).split(SEPARATORS);
  const part = bytesOf(from[choices.below(from.length)] ?? '');
  if (choices.chance(5)) return insert(input, choices.below(input.length + 1), part);
  parts.splice(choices.below(parts.length), 1);
  return bytesOf(parts.join(''));
}

/** Kept between the parts, as parts. */
const SEPARATORS = /([\s,;=:/])/;

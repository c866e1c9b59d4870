/** `TextEncoder` and `TextDecoder`, for UTF-8. */
export class TextEncoder {
  encode(text: string): Uint8Array {
    return host.encode(text);
  }
}

/** Replaces what is no UTF-8, as the standard has it when no error is asked for. */
export class TextDecoder {
  readonly #keepsMark: boolean;

  constructor(_label?: string, { ignoreBOM = false }: { readonly ignoreBOM?: boolean } = {}) {
    this.#keepsMark = ignoreBOM;
  }

  decode(bytes: Uint8Array): string {
    const text = host.decode(bytes);
    return !this.#keepsMark && text.startsWith('\ufeff') ? text.slice(1) : text;
  }
}

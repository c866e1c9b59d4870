/** The addon is part of the program: this stands for `packages/sys/src/open-addon.ts`. */
const addon = host.addon();

export const openAddon = (): never => addon;

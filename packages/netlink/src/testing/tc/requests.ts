export const trafficHandlers: readonly (readonly [number, import('../core/handler.ts').Handlers])[] = [];

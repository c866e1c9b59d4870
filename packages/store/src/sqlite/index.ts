export type { MachineClock } from './machine-clock.ts';
export { openSqlite, type SqliteOptions } from './sqlite-store.ts';

/** Where a running lab can be found. */
import { join } from 'node:path';
import { LabError } from '../lab-error.ts';

/** The usual directory of labs. */
export const LAB_DIRECTORY = '/run/heddle/lab';

/** The files of one lab. */
export interface LabPlaces {
  readonly directory: string;
  readonly socket: string;
  readonly log: string;
  /** The number of the keeper's process, as whoever started it sees it. */
  readonly pid: string;
  /** What is mounted only for the lab itself. */
  readonly shared: string;
}

/** @throws {LabError} LAB_INVALID for a name that cannot be a directory's */
export function labPlaces(directory: string, name: string): LabPlaces {
  if (!/^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$/.test(name)) {
    throw new LabError('LAB_INVALID', `${JSON.stringify(name)} cannot be the name of a lab`, {
      hint: 'lower-case letters, digits and dashes, at most 32',
    });
  }
  const own = join(directory, name);
  return {
    directory: own,
    socket: join(own, 'keeper.sock'),
    log: join(own, 'keeper.log'),
    pid: join(own, 'keeper.pid'),
    shared: join(own, 'shared'),
  };
}

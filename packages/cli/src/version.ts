/** The version of this program; a test keeps it equal to the package's. */
export const HEDDLE_VERSION = '0.1.0';

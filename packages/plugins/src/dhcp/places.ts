/** Where the plugin finds what daemons leave. */
export interface Places {
  /** The directory in which daemons keep their leases. */
  readonly stateDir: string;
}

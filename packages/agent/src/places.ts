/** Where the agent and its callers meet, as it is compiled into the shim. */

/** Its places on an ordinary machine; the shim and the agent look into these variables first. */
const AGENT_PLACES = {
  socket: { path: '/run/heddle/agent.sock', variable: 'HEDDLE_AGENT_SOCKET' },
  queue: { path: '/var/lib/heddle/queue', variable: 'HEDDLE_AGENT_QUEUE' },
} as const;

/** Where something is, in an environment. */
export function agentPlace(
  name: keyof typeof AGENT_PLACES,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const { path, variable } = AGENT_PLACES[name];
  return env[variable] ?? path;
}

/**
 * The descriptor of the socket that systemd listens on for this process — sd_listen_fds(3).
 *
 * @returns undefined when there is none
 */
export function handedDescriptor(
  env: Readonly<Record<string, string | undefined>>,
  pid: number,
): number | undefined {
  return env['LISTEN_PID'] === `${pid}` && Number(env['LISTEN_FDS'] ?? 0) >= 1 ? FIRST_FD : undefined;
}

/** SD_LISTEN_FDS_START */
const FIRST_FD = 3;
